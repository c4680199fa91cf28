import { z } from 'zod';
import { JSON_DEPTH_MAX, PawlError } from '#base';
import { NotDoneError, notDone, notDoneHere } from './outcome.ts';

/** A credential by name. The value is fetched only at the call, and never kept. */
export const secretReference = z.strictObject({ secret: z.string().min(1, 'a secret needs a name') });
export type SecretReference = z.infer<typeof secretReference>;

/** A shorter one would blank out half of every text it is removed from. */
const REDACTED_LENGTH_MIN = 4;
export type SecretSource = (name: string) => Promise<string | undefined> | string | undefined;

/** The names of the secrets that a config refers to. */
export function secretsIn(config: unknown): string[] {
  const reference = secretReference.safeParse(config);
  if (reference.success) return [reference.data.secret];
  if (typeof config !== 'object' || config === null) return [];
  return [...new Set(Object.values(config).flatMap(secretsIn))];
}

/** The secrets one call has used, so that nothing that comes of the call can carry them. */
export interface CallSecrets {
  reveal(reference: SecretReference): Promise<string>;
  /** Notes a text made from secrets (a Basic credential) as secret too. */
  note(label: string, text: string): void;
  redact<T>(value: T): T;
}

export function callSecrets(source: SecretSource): CallSecrets {
  const forms: { readonly text: string; readonly mark: string }[] = [];

  function note(label: string, text: string): void {
    if (text.length < REDACTED_LENGTH_MIN) return;
    const mark = `[secret ${label}]`;
    const spellings = [
      text,
      JSON.stringify(text).slice(1, -1),
      encodeURIComponent(text),
      new URLSearchParams([['', text]]).toString().slice(1),
      Buffer.from(text).toString('hex'),
      Buffer.from(text).toString('hex').toUpperCase(),
      ...base64Spellings(Buffer.from(text), 'base64'),
      ...base64Spellings(Buffer.from(text), 'base64url'),
    ].filter((spelling) => spelling.length >= REDACTED_LENGTH_MIN);
    for (const spelling of new Set(spellings)) forms.push({ text: spelling, mark });
    // Longest first, so that no part of a longer form is left behind.
    forms.sort((a, b) => b.text.length - a.text.length);
  }

  async function reveal({ secret: name }: SecretReference): Promise<string> {
    let value: string | undefined;
    try {
      value = await source(name);
    } catch (cause) {
      const why = cause instanceof PawlError ? cause.message : `the secret "${name}" could not be read`;
      // What was changed where it is kept is so for every process.
      const isOurs = !(cause instanceof PawlError && cause.code === 'secret-damaged');
      throw new NotDoneError((isOurs ? notDoneHere : notDone)('auth', why), { cause });
    }
    if (value === undefined || value === '') {
      throw new NotDoneError(notDone('auth', `the secret "${name}" is not set: pawl secret set ${name}`));
    }
    note(name, value);
    return value;
  }

  function redactText(text: string): string {
    return forms.reduce((clean, { text: form, mark }) => clean.replaceAll(form, mark), text);
  }

  function redactValue(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return redactText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > JSON_DEPTH_MAX) return '[nested too deep]';
    if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [redactText(key), redactValue(item, depth + 1)]),
    );
  }

  return {
    reveal,
    note,
    redact: <T>(value: T): T => (forms.length === 0 ? value : (redactValue(value, 0) as T)),
  };
}

/** How it reads inside a longer text that was encoded: a letter stands for three quarters of a byte, so there are three ways. */
function base64Spellings(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
  const whole = bytes.toString(encoding);
  const inside = [0, 1, 2].map((before) => {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes])
      .toString(encoding)
      .replaceAll('=', '');
    // The letters that the neighbours have a part in are left out.
    const from = Math.ceil((before * 4) / 3);
    const to = Math.floor(((before + bytes.length) * 4) / 3);
    return shifted.slice(from, to);
  });
  return [whole, ...inside];
}
