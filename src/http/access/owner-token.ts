import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN_BYTES = 32;
const OWNER_ONLY = 0o600;

/** The one secret of the API, in the data folder where only its owner can read it; made at the first start. */
export function ownerTokenIn(dataDir: string): string {
  const file = join(dataDir, 'token');
  try {
    writeFileSync(file, `${randomBytes(TOKEN_BYTES).toString('hex')}\n`, { mode: OWNER_ONLY, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
    chmodSync(file, OWNER_ONLY);
  }
  const token = readFileSync(file, 'utf8').trim();
  if (token.length >= TOKEN_BYTES) return token;
  // Cut short by a crash while it was made: whoever has a part of it has nothing.
  writeFileSync(file, `${randomBytes(TOKEN_BYTES).toString('hex')}\n`, { mode: OWNER_ONLY });
  return readFileSync(file, 'utf8').trim();
}

/** How long it takes says nothing about how much of it fits. */
export function isOwnerToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
