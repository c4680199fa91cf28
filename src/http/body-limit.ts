import { createMiddleware } from 'hono/factory';
import { RequestError } from './problem.ts';
import type { Ask, Env } from './route.ts';

/** A script with its source map; nothing else comes near. */
const BODY_BYTES_MAX = 2 * 1_024 * 1_024;

/**
 * No body takes more memory than the limit, whether or not its sender says how long it is. Hono's own limit makes a new
 * request out of one of unknown length, which the requests of its Node server cannot be made into.
 */
export const notTooLarge = createMiddleware<Env>(async (ask, next) => {
  const said = ask.req.header('content-length');
  // The parser of HTTP holds a sender to the length it said, and lets nobody say both.
  if (said !== undefined && ask.req.header('transfer-encoding') === undefined) {
    if (Number(said) > BODY_BYTES_MAX) throw tooLarge();
    return next();
  }
  const bytes = await bytesOf(ask);
  // From here on every way to read the body begins at these very bytes: a signature is over nothing else. Hono keeps
  // promises there, whatever its types say.
  Object.assign(ask.req.bodyCache, { arrayBuffer: Promise.resolve(bytes) });
  return next();
});

async function bytesOf(ask: Ask): Promise<ArrayBuffer> {
  const reader = ask.req.raw.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > BODY_BYTES_MAX) throw tooLarge();
    parts.push(value);
  }
  return new Uint8Array(Buffer.concat(parts)).buffer;
}

function tooLarge(): RequestError {
  return new RequestError(
    413,
    'too-large',
    `the body is larger than ${BODY_BYTES_MAX / 1_024 / 1_024} MiB`,
    'nothing that is asked of an engine is that large',
    'send less, or in several requests',
  );
}
