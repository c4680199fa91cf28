import { createHmac } from 'node:crypto';
import { type CallSecrets, callSecrets, type SecretReference, type SecretSource } from '#connector';
import { type Channel, failed, type Message, type Told, unknown } from './channel.ts';

const ANSWER_MS_MAX = 15_000;
const EXCERPT_CHARS_MAX = 200;
/** Nothing was sent when one of these came up. */
const BEFORE_SENDING =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/;

export interface WebhookConfig {
  readonly url: string;
  readonly secret: SecretReference;
}

/** A POST as Standard Webhooks have it: signed, and with an id that stays the same at each try. */
export function webhookChannel(
  name: string,
  { url, secret, kinds }: WebhookConfig & { readonly kinds?: readonly string[] | undefined },
  source: SecretSource,
): Channel {
  return {
    name,
    type: 'webhook',
    kinds,
    async send(message, signal) {
      const secrets = callSecrets(source);
      let key: Buffer;
      try {
        key = keyFrom(await secrets.reveal(secret));
      } catch (error) {
        return failed(error);
      }
      return secrets.redact(await post(url, message, key, signal, secrets));
    },
  };
}

async function post(
  url: string,
  message: Message,
  key: Buffer,
  signal: AbortSignal,
  secrets: CallSecrets,
): Promise<Told> {
  const body = bodyOf(message);
  const timestamp = `${Math.floor(message.at / 1_000)}`;
  const signature = createHmac('sha256', key).update(`${message.id}.${timestamp}.${body}`).digest('base64');
  // Only where somebody is told something: it takes 10 MB.
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({ connections: 1, connectTimeout: ANSWER_MS_MAX });
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher,
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'pawl',
        'webhook-id': message.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
    });
    const said = secrets
      .redact(await answer.body.text())
      .trim()
      .slice(0, EXCERPT_CHARS_MAX);
    if (answer.statusCode < 300) return { kind: 'sent' };
    const why = `${url} answered ${answer.statusCode}${said === '' ? '' : `: ${said}`}`;
    return failed(why, retryAfterMs(answer.headers['retry-after']));
  } catch (error) {
    return wasSent(error) ? unknown(error) : failed(error);
  } finally {
    await dispatcher.destroy();
  }
}

function wasSent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? `${error.code}` : '';
  return !BEFORE_SENDING.test(code);
}

function bodyOf({ at, cases, link }: Message): string {
  return JSON.stringify({
    type: 'needs.opened',
    timestamp: new Date(at).toISOString(),
    data: { count: cases.length, link, cases },
  });
}

/** `whsec_…` is base64; anything else is taken as it is. */
function keyFrom(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}

function retryAfterMs(header: string | string[] | undefined): number | undefined {
  const seconds = Number(Array.isArray(header) ? header[0] : header);
  return header !== undefined && Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1_000) : undefined;
}
