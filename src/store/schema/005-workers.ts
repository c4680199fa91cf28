import { WORKER_STEPS } from '#model';
import type { Dialect } from '../dialect.ts';
import { isWord } from './words.ts';

/** What a process is, how much it takes at once, and whether it takes anything. Processes of before say nothing of it. */
export function columnsOfWorkers({ integer }: Dialect): string[] {
  return [
    'ALTER TABLE workers ADD COLUMN version TEXT',
    `ALTER TABLE workers ADD COLUMN concurrency ${integer} CHECK (concurrency >= 0)`,
    `ALTER TABLE workers ADD COLUMN status TEXT NOT NULL DEFAULT 'open' CHECK (${isWord('status', WORKER_STEPS)})`,
  ];
}
