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
}

/** Types a command where nobody looks: no terminal, nothing to ask. */
export async function type(argv: readonly string[], { env = {}, input = '' }: TypeOptions = {}): Promise<Typed> {
  let out = '';
  let err = '';
  const terminal: Terminal = {
    env,
    isInteractive: false,
    columns: undefined,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    input: async () => input,
    confirm: () => {
      throw new Error('a command asked something where nobody can answer');
    },
  };
  const code = await runCli(argv, terminal);
  return { code, out, err, json: <T>() => JSON.parse(out) as T };
}
