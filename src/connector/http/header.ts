import { z } from 'zod';

export const headerName = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a header name');

export const headerValue = z
  .string()
  .max(8 * 1024)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line of text without control characters');

/** Headers that frame the message: one that lies would let a script smuggle a second request. */
const FRAMING = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-authorization',
  'proxy-connection',
  'http2-settings',
];

export function framesMessage(name: string): boolean {
  return FRAMING.includes(name.toLowerCase());
}

/** A header whose value is a credential by its name, wherever it came from. */
export function isSensitive(name: string): boolean {
  return /authorization|cookie|token|secret|password|api-?key|signature/i.test(name);
}
