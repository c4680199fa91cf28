import { runCli, type Terminal } from '#cli';

/** What a command printed, and how it ended. */
export interface Typed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The one JSON document it printed. */
  json<T = Record<string, unknown>>(): T;
}

export interface TypeOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  /** What a person at a terminal answers; without it there is no terminal. */
  readonly answers?: boolean;
}

/** Types a command where nobody looks, unless somebody answers. */
export async function type(
  argv: readonly string[],
  { env = {}, input = '', answers }: TypeOptions = {},
): Promise<Typed> {
  let out = '';
  let err = '';
  const terminal: Terminal = {
    env,
    isInteractive: answers !== undefined,
    columns: undefined,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    input: async () => input,
    hidden: async (question) => {
      if (answers === undefined) throw new Error('a command asked something where nobody can answer');
      err += question;
      return input;
    },
    confirm: async () => {
      if (answers === undefined) throw new Error('a command asked something where nobody can answer');
      return answers;
    },
  };
  const code = await runCli(argv, terminal);
  return { code, out, err, json: <T>() => JSON.parse(out) as T };
}
