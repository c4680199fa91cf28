import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Fault } from '../../faults/fault.ts';
import type { Caught } from './catch.ts';
import { SEEDED } from './faults.ts';

type Say = (line: string) => void;

/** Far more than all histories take: what runs longer is hung, and that is no history that caught it. */
const LIMIT_MS = 600_000;

/** Which of the faults: those from this one on, counted from 0, and so many of them. */
export interface Range {
  readonly from?: number;
  readonly count?: number;
}

/** Seeds each fault whose name has all these words, one at a time, and says which history caught it. */
export async function runFaults(words: readonly string[], say: Say, { from = 0, count }: Range = {}): Promise<number> {
  const named = SEEDED.filter(({ name, file }) => words.every((word) => name.includes(word) || file.includes(word)));
  const faults = named.slice(from, count === undefined ? undefined : from + count);
  let caught = 0;
  const waiting = faults.values();
  const work = async () => {
    for (const fault of waiting) if (await seed(fault, say)) caught++;
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  say(`\n${faults.length} faults, ${caught} caught`);
  return caught === faults.length && faults.length > 0 ? 0 : 1;
}

async function seed(fault: Fault, say: Say): Promise<boolean> {
  const startedAt = performance.now();
  const { text, isHung } = await output(fault);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4);
  if (text === '') {
    say(`${seconds} s  ${fault.name} (${fault.file})\n        SURVIVED${isHung ? ', or hung' : ''}`);
    return false;
  }
  const { by, violation, histories, history } = JSON.parse(text) as Caught;
  const [first = ''] = violation.split('\n');
  say(`${seconds} s  ${fault.name} (${fault.file})\n        ${by}, history ${histories}: ${first.slice(0, 200)}`);
  say(`        ${JSON.stringify(history)}`);
  return true;
}

function output({ name, file }: Fault): Promise<{ text: string; isHung: boolean }> {
  const seeding = import.meta.resolve('../../faults/seed.ts');
  const catching = join(import.meta.dirname, 'catch.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `--import=${seeding}`, catching], {
    env: { ...process.env, PAWL_FAULT: name, PAWL_FAULT_FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ text: code === 0 ? text : '', isHung: signal !== null }));
  });
}
