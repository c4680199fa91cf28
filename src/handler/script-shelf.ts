import { assert, keepNewest, type ScriptId } from '#base';
import type { Engine } from '#execution';
import type { Handlers } from '#model';
import { type Manifest, parseManifest } from '#script';

/** A version as a run needs it: its code, what it declares, and the way from a position in the code to the author's file. */
export interface LoadedScript {
  readonly id: ScriptId;
  readonly code: string;
  readonly handlers: Handlers;
  readonly manifest: Manifest;
}

const SCRIPTS_MAX = 500;

/** Versions never change, so the ones in use are kept. */
export class ScriptShelf {
  readonly #reader: Engine['reader'];
  readonly #kept = new Map<ScriptId, LoadedScript>();

  constructor(reader: Engine['reader']) {
    this.#reader = reader;
  }

  async get(id: ScriptId): Promise<LoadedScript> {
    const script = this.#kept.get(id) ?? (await this.#load(id));
    keepNewest(this.#kept, id, script, SCRIPTS_MAX);
    return script;
  }

  async #load(id: ScriptId): Promise<LoadedScript> {
    const [row] = await this.#reader.fetch('script', id);
    const text = await this.#reader.scriptCode(id);
    assert(row && text, `version ${id} is missing`);
    return { id, code: text.code, handlers: row.handlers, manifest: parseManifest(text.manifest) };
  }
}
