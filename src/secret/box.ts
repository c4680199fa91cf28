import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** 32 bytes, for AES-256. */
export const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORM = 'pawl1';

/** A key and by what its boxes know it; the name says nothing of the key. */
export interface MasterKey {
  readonly id: string;
  readonly bytes: Buffer;
}

export function masterKey(bytes: Buffer): MasterKey {
  return { id: createHmac('sha256', bytes).update('pawl master key').digest('hex').slice(0, 16), bytes };
}

/** `pawl1:KEY:DATA-KEY:VALUE`: the value under a key made for it alone, and that key under the master key. */
interface Box {
  readonly keyId: string;
  readonly dataKey: Buffer;
  readonly value: Buffer;
}

export function sealed(key: MasterKey, name: string, value: string): string {
  const dataKey = randomBytes(KEY_BYTES);
  const sealedKey = encrypt(key.bytes, dataKey, `key of ${name}`);
  return textOf({ keyId: key.id, dataKey: sealedKey, value: encrypt(dataKey, Buffer.from(value), `value of ${name}`) });
}

/** Throws when the box was touched, or is another secret's. */
export function opened(key: MasterKey, name: string, box: string): string {
  const { dataKey, value } = parsed(box);
  return decrypt(decrypt(key.bytes, dataKey, `key of ${name}`), value, `value of ${name}`).toString('utf8');
}

/** The same box for another master key. What is in it is not opened. */
export function resealed(from: MasterKey, to: MasterKey, name: string, box: string): string {
  const { dataKey, value } = parsed(box);
  const about = `key of ${name}`;
  return textOf({ keyId: to.id, dataKey: encrypt(to.bytes, decrypt(from.bytes, dataKey, about), about), value });
}

/** By which master key it was sealed. */
export function keyIdOf(box: string): string {
  return parsed(box).keyId;
}

function textOf({ keyId, dataKey, value }: Box): string {
  return [FORM, keyId, dataKey.toString('base64url'), value.toString('base64url')].join(':');
}

function parsed(box: string): Box {
  const [form, keyId, dataKey, value, ...more] = box.split(':');
  if (form !== FORM || keyId === undefined || dataKey === undefined || value === undefined || more.length > 0) {
    throw new Error('this is no sealed secret');
  }
  return { keyId, dataKey: Buffer.from(dataKey, 'base64url'), value: Buffer.from(value, 'base64url') };
}

function encrypt(key: Buffer, plain: Buffer, about: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(about));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]);
}

function decrypt(key: Buffer, sealedBytes: Buffer, about: string): Buffer {
  const iv = sealedBytes.subarray(0, IV_BYTES);
  const tag = sealedBytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  const cipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(about)).setAuthTag(tag);
  return Buffer.concat([cipher.update(sealedBytes.subarray(IV_BYTES + TAG_BYTES)), cipher.final()]);
}
