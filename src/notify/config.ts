import { z } from 'zod';
import { PawlError } from '#base';
import { type SecretSource, secretReference } from '#connector';
import type { Channel } from './channel.ts';
import { commandChannel } from './command.ts';
import { emailChannel } from './email.ts';
import { webhookChannel } from './webhook.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const CHANNELS_MAX = 20;
const KINDS = ['unknown', 'approval', 'connection', 'repair', 'error', 'evidence', 'permission', 'retrying'] as const;

const address = z
  .string()
  .min(3)
  .max(500)
  .regex(/^[^\r\n]*@[^\r\n]*$/, 'is no address');
const url = z
  .string()
  .max(2_000)
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'is no http address');
const kinds = z.array(z.enum(KINDS)).min(1).optional();

const CHANNEL = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('webhook'), url, secret: secretReference, kinds }),
  z.strictObject({
    type: z.literal('email'),
    to: z.union([address.transform((one) => [one]), z.array(address).min(1).max(50)]),
    from: address,
    smtp: z
      .strictObject({
        host: z.string().min(1).max(255),
        port: z.int().min(1).max(65_535).optional(),
        secure: z.boolean().optional(),
        plain: z.boolean().default(false),
        user: z.string().max(500).optional(),
        password: secretReference.optional(),
        ca: z.string().optional(),
      })
      .refine(
        (smtp) => (smtp.user === undefined) === (smtp.password === undefined),
        'user and password belong together',
      )
      .transform((smtp) => ({
        ...smtp,
        secure: smtp.secure ?? smtp.port === 465,
        port: smtp.port ?? (smtp.secure === true ? 465 : 587),
      })),
    kinds,
  }),
  z.strictObject({
    type: z.literal('command'),
    command: z.array(z.string().min(1).max(4_096)).min(1).max(50),
    kinds,
  }),
]);

/** `notify` of the config: every channel, or one error with all that is wrong. Nothing is contacted. */
export function openChannels(config: unknown, source: SecretSource): Channel[] {
  if (config === undefined) return [];
  const parsed = z.record(z.string().regex(NAME, 'is no name of a channel'), CHANNEL).safeParse(config);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `notify.${path.map(String).join('.')}: ${message}`);
  if (parsed.success && Object.keys(parsed.data).length > CHANNELS_MAX)
    problems.push(`notify: there are more than ${CHANNELS_MAX} channels`);
  if (!parsed.success || problems.length > 0) throw invalid(problems);
  return Object.entries(parsed.data).map(([name, channel]) => opened(name, channel, source));
}

function opened(name: string, channel: z.output<typeof CHANNEL>, source: SecretSource): Channel {
  switch (channel.type) {
    case 'webhook':
      return webhookChannel(name, channel, source);
    case 'email':
      return emailChannel(name, channel, source);
    case 'command':
      return commandChannel(name, channel);
  }
}

function invalid(problems: readonly string[]): PawlError {
  return new PawlError({
    code: 'config-invalid',
    message: `the config cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    why: 'whoever is to be told must be reachable',
    next: [{ label: 'correct notify in the config and start again' }],
  });
}
