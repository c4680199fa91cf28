import { execFile } from 'node:child_process';
import { shownLine } from '#base';
import { type Channel, failed, headline, type Message, type Told, unknown } from './channel.ts';

const RUN_MS_MAX = 15_000;
const TEXT_CHARS_MAX = 1_000;
/** What a program on somebody's desktop needs to find it; nothing that could hold a secret. */
const KEPT = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'SystemRoot',
];

/** A program, run as it is and without a shell: `{sentence}` and `{link}` in its arguments are filled in. */
export function commandChannel(
  name: string,
  { command, kinds }: { readonly command: readonly string[]; readonly kinds?: readonly string[] | undefined },
): Channel {
  return { name, type: 'command', kinds, send: (message, signal) => run(command, message, signal) };
}

function run([program = '', ...args]: readonly string[], message: Message, signal: AbortSignal): Promise<Told> {
  const values = valuesOf(message);
  const filled = args.map((arg) => arg.replaceAll(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole));
  const env = {
    ...Object.fromEntries(KEPT.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]]))),
    ...Object.fromEntries(Object.entries(values).map(([key, value]) => [`PAWL_${key.toUpperCase()}`, value])),
  };
  return new Promise((resolve) => {
    execFile(program, filled, { env, signal, timeout: RUN_MS_MAX, killSignal: 'SIGKILL' }, (error) => {
      if (error === null) resolve({ kind: 'sent' });
      else if (error.killed === true || error.name === 'AbortError') resolve(unknown(`${program} did not end in time`));
      else resolve(failed(`${program} ended with ${error.code ?? error.signal ?? error.message}`));
    });
  });
}

function valuesOf(message: Message): Readonly<Record<string, string>> {
  const [first] = message.cases;
  const link = message.cases.length === 1 ? first.link : message.link;
  return {
    sentence: shownLine(headline(message)).slice(0, TEXT_CHARS_MAX),
    link,
    workflow: first.workflow,
    kind: first.kind,
    count: String(message.cases.length),
  };
}
