import type { Command } from 'commander';
import { part } from '../client.ts';
import { define, type Ended } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { plural } from '../words.ts';
import { type Row, text } from './columns.ts';
import { printList } from './lists.ts';

/** What connections need to get in elsewhere. Values are typed or piped, never written in a command: others can see those. */
export function addSecrets(program: Command, terminal: Terminal, ended: Ended): void {
  const secret = program.command('secret').description('credentials of connections: set, list, remove, rotate-key');

  const set = secret
    .command('set <name>')
    .description('set a secret; its value is asked for, or read from the standard input');
  define<[string]>(terminal, ended, set, async (act, name) => {
    const value = terminal.isInteractive
      ? await terminal.hidden(`value of ${name}: `)
      : lastLineOff(await terminal.input());
    if (value === '') {
      throw new UsageError(`there is no value for ${name}`, 'it is typed, or comes on the standard input', [
        { label: 'pipe it', argv: ['pawl', 'secret', 'set', name] },
      ]);
    }
    const answer = await (await act.engine()).put<Row>(`/api/secrets/${part(name)}`, { value });
    act.print(answer, () => `${name} is set${usedBy(name, answer.connections)}${freedBy(answer.freed)}\n`);
    return undefined;
  });

  const list = secret.command('list').description('list the secrets by name, with what uses them; never their values');
  define(terminal, ended, list, async (act) => {
    const answer = await (await act.engine()).all<Row>('/api/secrets');
    printList(act, 'secrets', answer, ['secret', 'list']);
    return undefined;
  });

  const remove = secret.command('remove <name>').description('take a secret away; what needs it waits');
  define<[string]>(terminal, ended, remove, async (act, name) => {
    const answer = await (await act.engine()).post<Row>(`/api/secrets/${part(name)}/remove`);
    act.print(answer, () => `${name} is removed${usedBy(name, answer.connections)}\n`);
    return undefined;
  });

  const rotate = secret.command('rotate-key').description('seal every secret with a new master key');
  define(terminal, ended, rotate, async (act) => {
    const answer = await (await act.engine()).post<Row>('/api/rotate-key');
    act.print(
      answer,
      () => `${plural(Number(answer.resealed), 'secret')} sealed anew; the key: ${text(answer.place)}\n`,
    );
    return undefined;
  });
}

/** An editor and echo end a text with a line end that is none of the secret. */
function lastLineOff(given: string): string {
  return given.replace(/\r?\n$/, '');
}

const HOOK_SECRET = /^hook\.([^.]+)\.([^.]+)$/;

function usedBy(name: string, connections: unknown): string {
  const names = Array.isArray(connections) ? (connections as string[]) : [];
  const [, workflow, hook] = HOOK_SECRET.exec(name) ?? [];
  if (hook !== undefined) return `; deliveries to ${workflow}/${hook} are checked with it`;
  return names.length === 0 ? '; no connection uses it' : `; used by ${names.join(', ')}`;
}

function freedBy(freed: unknown): string {
  const workflows = Array.isArray(freed) ? freed.length : 0;
  return workflows === 0
    ? ''
    : `; ${plural(workflows, 'workflow')} that waited for it ${workflows === 1 ? 'goes' : 'go'} on`;
}
