import { resolve } from 'node:path';
import type { Host } from '../connector.ts';
import type { FilesConfig } from './config.ts';
import { type Journal, openJournal } from './journal.ts';

export interface FilesConnection {
  readonly root: string;
  readonly config: FilesConfig;
  readonly host: Host;
  readonly journal: Journal;
  /** One change at a time in a root, so that the offset in the journal is where the text will stand. */
  inTurn<T>(change: () => Promise<T>): Promise<T>;
}

/** Two connections may name one root: they take turns too. */
const turns = new Map<string, Promise<unknown>>();

export function openFilesConnection(config: FilesConfig, host: Host): FilesConnection {
  const root = resolve(host.baseFolder, config.root);
  return {
    root,
    config,
    host,
    journal: openJournal(root, host.clock),
    async inTurn(change) {
      const before = turns.get(root);
      const turn = (before ?? Promise.resolve()).then(change, change);
      turns.set(root, turn);
      try {
        return await turn;
      } finally {
        if (turns.get(root) === turn) turns.delete(root);
      }
    },
  };
}
