import { RefusedError, reach } from '#base';
import type { Engine } from '#execution';
import type { Secret } from '#model';
import { keyIdOf, type MasterKey, opened, resealed, sealed } from './box.ts';
import { KeyUnavailableError } from './key-unavailable.ts';
import type { MasterKeys } from './keys.ts';

/** Shorter ones cannot be blanked out of what people see without blanking out everything else. */
const VALUE_CHARS_MIN = 4;
const VALUE_BYTES_MAX = 64 * 1_024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const LISTED_AT_ONCE = 500;

export interface VaultOptions {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'history'>;
  readonly keys: MasterKeys;
  /** Told when the first key was made. */
  readonly onKeyMade?: ((place: string) => void) | undefined;
}

/** A secret that is set, as anybody may know it. */
export type StoredSecret = Omit<Secret, 'box'>;

interface Sealed {
  readonly name: string;
  readonly version: number;
  readonly box: string;
}

/** What is kept of secrets: boxes. A value is in memory for as long as a call needs it, and nowhere else. */
export class Vault {
  readonly #options: VaultOptions;
  /** What seals waits for what seals: a box under a key that is being replaced would never open again. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: VaultOptions) {
    this.#options = options;
  }

  /** Where the master key is, for people. */
  get keyPlace(): string {
    return this.#options.keys.place;
  }

  /** The value, for a call; undefined where none is set. */
  async reveal(name: string): Promise<string | undefined> {
    const box = (await this.#options.engine.reader.fetch('secret', name))[0]?.box ?? null;
    if (box === null) return undefined;
    const key = await this.#keyOf(name, box);
    try {
      return opened(key, name, box);
    } catch (cause) {
      throw damaged(name, cause);
    }
  }

  /** Whether it could be used now; what stands in the way, if not. */
  async trouble(name: string): Promise<string | undefined> {
    try {
      await this.reveal(name);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** What this process has no key for, each with what stands in the way. Nothing is opened, and each key is looked for once. */
  async locked(): Promise<readonly { readonly name: string; readonly error: unknown }[]> {
    const found: { readonly name: string; readonly error: unknown }[] = [];
    const looked = new Map<string, unknown>();
    for (const { name, box } of await this.#boxes()) {
      const id = box.split(':', 2).join(':');
      if (!looked.has(id)) {
        looked.set(id, await this.#keyOf(name, box).then(none, (error: unknown) => error));
      }
      const error = looked.get(id);
      if (error !== undefined) found.push({ name, error });
    }
    return found;
  }

  /** Connections that waited for it go on, in the same transaction. */
  async set(name: string, value: string, by: string, cures: readonly string[]): Promise<{ version: number }> {
    checkName(name);
    checkValue(name, value);
    return await this.#inTurn(async () => {
      const box = sealed(await this.#keyToSealWith(await this.#boxes()), name, value);
      return await this.#options.engine.manager.together((model) => {
        const { version } = model.setSecret(name, box, by);
        for (const connection of cures) model.cureConnection(connection, by);
        return { version };
      });
    });
  }

  async remove(name: string, by: string): Promise<void> {
    await this.#options.engine.manager.removeSecret(name, by);
  }

  /** By name; `after` is a name. */
  async list(
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly StoredSecret[]; readonly next: string | null }> {
    const page = await this.#options.engine.history.secrets({ after, limit });
    const rows = page.filter(({ box }) => box !== null).map(({ box: _, ...row }) => row);
    return { rows, next: page.length < limit ? null : (page.at(-1)?.name ?? null) };
  }

  /**
   * Every box is sealed again under a new master key, all in one transaction; what is inside is not opened. Whoever dies on
   * the way leaves the old key and the old boxes, or the new boxes with both keys in place.
   */
  async rotate(by: string): Promise<{ readonly resealed: number }> {
    return await this.#inTurn(async () => {
      const { keys, engine } = this.#options;
      const boxes = await this.#boxes();
      const current = await this.#keyToSealWith(boxes);
      // Before anything is made: with a key missing nothing is changed.
      const from = await Promise.all(boxes.map(({ name, box }) => this.#keyOf(name, box)));
      const next = (await keys.prepare()) ?? current;
      const changed = boxes.flatMap(({ name, version, box }, i) => {
        const key = from[i];
        return key === undefined || key.id === next.id ? [] : [{ name, version, box: resealed(key, next, name, box) }];
      });
      await engine.manager.together((model) => {
        for (const { name, version, box } of changed) model.setSecret(name, box, by, { resealOf: version });
        return model.recordAct('rotate key', 'secrets', by, `${changed.length} sealed anew`);
      });
      reach('key-rotated');
      keys.adopt();
      return { resealed: changed.length };
    });
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act, act);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #boxes(): Promise<readonly Sealed[]> {
    const { history } = this.#options.engine;
    const boxes: Sealed[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await history.secrets({ after, limit: LISTED_AT_ONCE });
      for (const { name, version, box } of page) if (box !== null) boxes.push({ name, version, box });
      if (page.length < LISTED_AT_ONCE) return boxes;
      after = page.at(-1)?.name;
    }
  }

  /** A first key is made only where nothing is sealed yet: another one would lock away what is. */
  async #keyToSealWith(boxes: readonly Sealed[]): Promise<MasterKey> {
    const { keys } = this.#options;
    const [first] = boxes;
    if (first === undefined) return (await keys.current()) ?? (await this.#makeKey());
    const coming = await keys.coming();
    // Whoever made it died after everything was sealed with it, and before it took its place.
    if (coming !== undefined && boxes.some(({ box }) => keyIdOf(box) === coming.id)) keys.adopt();
    // A key that opens what is there is the right one to go on with.
    await this.#keyOf(first.name, first.box);
    const current = await keys.current();
    if (current === undefined) throw this.#missing(first.name);
    return current;
  }

  async #makeKey(): Promise<MasterKey> {
    const { keys, onKeyMade } = this.#options;
    const made = await keys.make();
    onKeyMade?.(keys.place);
    return made;
  }

  async #keyOf(name: string, box: string): Promise<MasterKey> {
    const { keys } = this.#options;
    const wanted = keyIdOf(box);
    const current = await keys.current();
    if (current?.id === wanted) return current;
    const coming = await keys.coming();
    const others = [...(coming ? [coming] : []), ...(await keys.earlier())];
    const other = others.find(({ id }) => id === wanted);
    if (other !== undefined) return other;
    throw current === undefined ? this.#missing(name) : this.#wrong(name, wanted, current.id);
  }

  #missing(name: string): KeyUnavailableError {
    return new KeyUnavailableError({
      code: 'key-missing',
      message: `the secret "${name}" cannot be opened: the master key is missing from ${this.keyPlace}`,
      why: 'that is where this process looks for it; the secrets are still kept, sealed',
      next: [{ label: `put the key into ${this.keyPlace}; all processes of a fleet need the same one` }, ...AGAIN],
    });
  }

  #wrong(name: string, wanted: string, current: string): KeyUnavailableError {
    return new KeyUnavailableError({
      code: 'key-wrong',
      message: `the secret "${name}" cannot be opened: it was sealed with another master key`,
      why: `it needs the key ${wanted}, and ${this.keyPlace} holds ${current}; nothing is lost`,
      next: [{ label: `put the right key into ${this.keyPlace}, or give it as PAWL_MASTER_KEY_OLD` }, ...AGAIN],
    });
  }
}

const none = (): undefined => undefined;

const AGAIN = [{ label: 'or set the secret again', argv: ['pawl', 'secret', 'set', 'NAME'] }] as const;

function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new RefusedError({
    code: 'invalid',
    message: 'this is no name of a secret',
    why: 'a name has letters, digits, ".", "_" and "-", and begins with a letter or digit',
    next: [{ label: 'take another name' }],
  });
}

function checkValue(name: string, value: string): void {
  const isRight = value.length >= VALUE_CHARS_MIN && Buffer.byteLength(value) <= VALUE_BYTES_MAX;
  if (isRight) return;
  throw new RefusedError({
    code: 'invalid',
    message: `the secret "${name}" was not set`,
    why:
      value.length < VALUE_CHARS_MIN
        ? `what has fewer than ${VALUE_CHARS_MIN} characters cannot be kept out of what people see`
        : `it is longer than ${VALUE_BYTES_MAX} bytes`,
    next: [{ label: 'give its value, and nothing else' }],
  });
}

function damaged(name: string, cause: unknown): KeyUnavailableError {
  return new KeyUnavailableError({
    code: 'secret-damaged',
    message: `the secret "${name}" cannot be opened: what is kept of it was changed`,
    why: 'its key fits, and its seal does not',
    next: [
      { label: 'set it again', argv: ['pawl', 'secret', 'set', name] },
      { label: 'look whether everything holds', argv: ['pawl', 'doctor'] },
    ],
    cause,
  });
}
