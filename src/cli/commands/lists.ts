import { type Command, Option } from 'commander';
import { part, type Query } from '../client.ts';
import { type Act, type Common, define, type Ended } from '../command.ts';
import { limitOf } from '../limit-of.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { typed } from '../words.ts';
import { COLUMNS, type Noun, type Row } from './columns.ts';
import { workflowNamed } from './workflow-named.ts';

interface ListOptions extends Common {
  readonly limit?: number;
  readonly after?: string;
  readonly status?: string;
  readonly topic?: string;
  readonly handler?: string;
  readonly ofVersion?: string;
}

interface Listed {
  readonly items: readonly Row[];
  readonly next: string | null;
}

interface Spec {
  readonly noun: Exclude<Noun, 'workflows' | 'connections' | 'tokens' | 'secrets' | 'channels' | 'notices' | 'audit'>;
  readonly alias?: string;
  readonly says: string;
  readonly filters: readonly (keyof typeof FILTERS)[];
}

const LISTS: readonly Spec[] = [
  { noun: 'versions', says: 'list a workflow’s versions, newest first', filters: [] },
  { noun: 'sessions', says: 'list a workflow’s sessions, newest first', filters: ['status', 'of-version'] },
  { noun: 'runs', says: 'list a workflow’s runs, newest first', filters: ['status', 'handler', 'of-version'] },
  { noun: 'events', says: 'list a workflow’s events, oldest first', filters: ['status', 'topic'] },
  { noun: 'inputs', says: 'list what came in, and what became of it', filters: ['status'] },
  {
    noun: 'outputs',
    alias: 'mutations',
    says: 'list the calls to the outside, why each was made, and what became of it',
    filters: ['status', 'handler', 'of-version'],
  },
  { noun: 'logs', says: 'list what a workflow’s handlers logged, newest first', filters: ['handler'] },
];

const FILTERS = {
  status: 'only those with this status',
  topic: 'only those of this topic',
  handler: 'only those of this handler',
  'of-version': 'only those under this version',
} as const;

export function addLists(program: Command, terminal: Terminal, ended: Ended): void {
  define(terminal, ended, program.command('workflows').description('list the workflows'), async (act) => {
    const answer = await (await act.engine()).get<Listed>('/api/workflows');
    printList(act, 'workflows', answer, ['workflows']);
    return undefined;
  });
  for (const spec of LISTS) addList(program, terminal, ended, spec);
}

function addList(program: Command, terminal: Terminal, ended: Ended, { noun, alias, says, filters }: Spec): void {
  const command = program
    .command(`${noun} [workflow]`)
    .description(says)
    .addOption(new Option('--limit <count>', 'how many at most, from 1 to 1000').argParser(limitOf).default(50))
    .option('--after <cursor>', 'go on where a page ended');
  if (alias !== undefined) command.alias(alias);
  for (const filter of filters) command.option(`--${filter} <${filter.split('-').at(-1)}>`, FILTERS[filter]);
  define<[string | undefined], ListOptions>(terminal, ended, command, async (act, named) => {
    const engine = await act.engine();
    const workflow = await workflowNamed(engine, named, noun);
    const { limit, after, status, topic, handler, ofVersion } = act.options;
    const query: Query = { limit, after, status, topic, handler, version: ofVersion };
    const answer = await engine.get<Listed>(`/api/workflows/${part(workflow)}/${noun}`, query);
    const given = Object.entries({ status, topic, handler, 'of-version': ofVersion }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    );
    printList(act, noun, answer, [noun, workflow, ...given]);
    return undefined;
  });
}

export function printList(act: Act, noun: Noun, answer: Listed, again: readonly string[]): void {
  act.print(answer, () =>
    answer.items.length === 0
      ? `no ${noun}\n`
      : table(COLUMNS[noun](Date.now()), answer.items, act.terminal.columns) + more(answer.next, again),
  );
}

function more(cursor: string | null, again: readonly string[]): string {
  return cursor === null ? '' : `\nmore: ${typed(['pawl', ...again, '--after', cursor])}\n`;
}
