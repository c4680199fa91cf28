import { createInterface } from 'node:readline/promises';

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
