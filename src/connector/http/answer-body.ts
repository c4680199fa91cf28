import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { z } from 'zod';
import { isNestedTooDeep } from '#base';
import type { Answer } from './exchange.ts';

/** What a script gets. The body is JSON if it says so or nothing and parses, else text, else base64. */
export interface HttpResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly bodyEncoding?: 'base64';
  /** Why there is no body though the provider sent one. */
  readonly bodyOmitted?: string;
}

/** A person who says that it happened may give the body alone, or nothing: then the result is null. */
export const httpResultSchema = z
  .strictObject({
    status: z.int().min(100).max(599).default(200),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.unknown().default(null),
    bodyEncoding: z.literal('base64').optional(),
    bodyOmitted: z.string().optional(),
  })
  .nullable();

/** Sessions are credentials: a script has no use for them. */
const HIDDEN_HEADERS = ['set-cookie', 'set-cookie2', 'www-authenticate', 'proxy-authenticate'];

const DECODERS: Readonly<Record<string, (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

export async function resultOf(answer: Answer, bytesMax: number): Promise<HttpResult> {
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HIDDEN_HEADERS.includes(name)));
  const { status } = answer;
  const omitted = (why: string): HttpResult => ({ status, headers, body: null, bodyOmitted: why });
  if (answer.bodyState === 'too-large') return omitted(`it is larger than ${bytesMax} bytes`);
  const coding = answer.headers['content-encoding']?.trim().toLowerCase();
  if (coding === undefined || coding === '' || coding === 'identity' || answer.body.length === 0) {
    return { status, headers, ...parseBody(answer.body, answer.headers['content-type']) };
  }
  const decode = DECODERS[coding];
  if (decode === undefined) return omitted(`its encoding "${coding}" is not known`);
  try {
    const body = await decode(answer.body, { maxOutputLength: bytesMax });
    return { status, headers, ...parseBody(body, answer.headers['content-type']) };
  } catch {
    return omitted(`as ${coding} it cannot be read, or is larger than ${bytesMax} bytes`);
  }
}

function parseBody(body: Buffer, contentType: string | undefined): Pick<HttpResult, 'body' | 'bodyEncoding'> {
  if (body.length === 0) return { body: null };
  const text = decodeText(body, contentType);
  if (text === undefined) return { body: body.toString('base64'), bodyEncoding: 'base64' };
  if (contentType === undefined || /^[^;]*[/+]json\b/i.test(contentType)) {
    // As text it can still be looked at; as data it could not even be handed on.
    if (isNestedTooDeep(text)) return { body: text };
    try {
      return { body: JSON.parse(text) };
    } catch {
      return { body: text };
    }
  }
  return { body: text };
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decodeText(body: Buffer, contentType: string | undefined): string | undefined {
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  try {
    return (charset === undefined ? UTF_8 : new TextDecoder(charset, { fatal: true })).decode(body);
  } catch {
    return undefined;
  }
}
