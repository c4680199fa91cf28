import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './usage-error.ts';

/** Everything a command sees of the process around it. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Both ends are a person's terminal. */
  readonly isInteractive: boolean;
  /** How wide lines may be; undefined where nobody looks at them. */
  readonly columns: number | undefined;
  out(text: string): void;
  err(text: string): void;
  input(): Promise<string>;
  confirm(question: string): Promise<boolean>;
  /** What a person types without anybody seeing it. */
  hidden(question: string): Promise<string>;
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    env: process.env,
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    columns: stdout.isTTY === true ? stdout.columns : undefined,
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    async input() {
      const parts: Buffer[] = [];
      for await (const part of stdin) parts.push(Buffer.from(part as Uint8Array));
      return Buffer.concat(parts).toString('utf8');
    },
    async hidden(question) {
      // readline shows what is typed by writing it: here that goes nowhere.
      const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
      const lines = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
      // Only now: before this the terminal itself shows what is typed.
      stderr.write(question);
      try {
        return await new Promise<string>((resolve, reject) => {
          lines.once('SIGINT', () => reject(new UsageError('nothing was set', 'it was broken off')));
          lines.once('close', () => resolve(''));
          lines.question('').then(resolve, reject);
        });
      } finally {
        lines.close();
        stderr.write('\n');
      }
    },
    async confirm(question) {
      const lines = createInterface({ input: stdin, output: stderr });
      try {
        return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
      } finally {
        lines.close();
      }
    },
  };
}
