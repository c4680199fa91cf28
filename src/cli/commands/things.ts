import type { Command } from 'commander';
import { RefusedError } from '#base';
import { type Client, part } from '../client.ts';
import { type Common, define, type Ended, stepsOf } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { parseJson } from '../parse-json.ts';
import { nextLine } from '../print-error.ts';
import { oneLine } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { typed } from '../words.ts';
import { idLines } from './acts.ts';
import { type Row, text } from './columns.ts';
import { printList } from './lists.ts';
import { workflowNamed } from './workflow-named.ts';

/** Looking at one thing: anything by its id, its story, a workflow's state, the connections. */
export function addThings(program: Command, terminal: Terminal, ended: Ended): void {
  const show = program.command('show <id>').description('show anything, by its id or a workflow’s name');
  define<[string]>(terminal, ended, show, async (act, id) => {
    const answer = await (await act.engine()).get<Row>(`/api/show/${part(id)}`);
    act.print(answer, () => shown(answer));
    return undefined;
  });

  const explain = program
    .command('explain <id>')
    .description('tell the story of an input, event, run, output or delivery in plain sentences');
  define<[string]>(terminal, ended, explain, async (act, id) => {
    const answer = await (await act.engine()).get<{ story: readonly string[] }>(`/api/explain/${part(id)}`);
    act.print(answer, () => answer.story.map((sentence) => `${oneLine(sentence)}\n`).join(''));
    return undefined;
  });
  addState(program, terminal, ended);
  addConnections(program, terminal, ended);
}

interface States {
  readonly items: readonly Row[];
}

function addState(program: Command, terminal: Terminal, ended: Ended): void {
  const state = program
    .command('state [workflow] [handler]')
    .description('show what the handlers of a workflow remember')
    .option('--set <json>', 'replace what the handler named remembers');
  define<[string | undefined, string | undefined], Common & { set?: string }>(
    terminal,
    ended,
    state,
    async (act, named, handler) => {
      const { set } = act.options;
      if (set !== undefined && handler === undefined) throw noHandlerNamed(named, set);
      const engine = await act.engine();
      const workflow = await workflowNamed(engine, named, 'state');
      if (set !== undefined && handler !== undefined) {
        const answer = await setState(engine, workflow, handler, set);
        act.print(answer, () => `${handler} of ${workflow} remembers this from now on\n${idLines(answer)}`);
        return undefined;
      }
      const answer = await engine.get<States>(`/api/workflows/${part(workflow)}/state`, { handler });
      const { items } = answer;
      if (handler !== undefined && items.length === 0) await mustHave(engine, workflow, handler);
      act.print(answer, () =>
        items.length === 0
          ? 'nothing is remembered\n'
          : items.map((item) => `${nameOf(item)}: ${text(item.state)}\n`).join(''),
      );
      return undefined;
    },
  );
}

function noHandlerNamed(workflow: string | undefined, set: string): UsageError {
  const argv = ['pawl', 'state', workflow ?? 'WORKFLOW', 'HANDLER', '--set', set];
  return new UsageError('name the handler whose state is set', 'each handler of a workflow remembers for itself', [
    { label: 'see the handlers', argv: ['pawl', 'state', ...(workflow === undefined ? [] : [workflow])] },
    { label: `then ${typed(argv)}` },
  ]);
}

interface Handlers {
  readonly producers: readonly { readonly name: string }[];
  readonly consumers: readonly { readonly name: string }[];
}

/** A handler that never ran remembers nothing; one that is not there was mistyped. */
async function mustHave(engine: Client, workflow: string, handler: string): Promise<void> {
  const { producers, consumers } = await engine.get<Handlers>(`/api/workflows/${part(workflow)}/graph`);
  if (![...producers, ...consumers].some(({ name }) => name === handler)) throw noHandler(workflow, handler);
}

function noHandler(workflow: string, handler: string): RefusedError {
  return new RefusedError({
    code: 'not-found',
    message: `workflow ${workflow} has no handler ${JSON.stringify(handler)}`,
    why: 'its active version has none of this name, and none of before remembers anything',
    next: [{ label: 'see the handlers', argv: ['pawl', 'state', workflow] }],
  });
}

function setState(engine: Client, workflow: string, handler: string, json: string): Promise<Row> {
  return engine.put<Row>(`/api/workflows/${part(workflow)}/state/${part(handler)}`, {
    state: parseJson('the state', json),
  });
}

function nameOf(item: Row): string {
  return text(item.handler ?? item.handlerName);
}

function addConnections(program: Command, terminal: Terminal, ended: Ended): void {
  const connections = program.command('connections').description('list the connections, and how each stands');
  define(terminal, ended, connections, async (act) => {
    const answer = await (await act.engine()).get<{ items: readonly Row[]; next: null }>('/api/connections');
    printList(act, 'connections', answer, ['connections']);
    return undefined;
  });
  const test = connections.command('test <name>').description('try a connection; a good answer lifts its hold');
  define<[string]>(terminal, ended, test, async (act, name) => {
    const answer = await (await act.engine()).post<Row>(`/api/connections/${part(name)}/test`);
    act.print(answer, () => `${name}: ${text(answer.sentence ?? (answer.ok === true ? 'it works' : answer))}\n`);
    return answer.ok === false ? EXIT.failed : undefined;
  });
  const cure = connections
    .command('cure <name>')
    .description('say that a connection’s credentials were mended: every workflow that waits for it goes on');
  define<[string]>(terminal, ended, cure, async (act, name) => {
    const answer = await (await act.engine()).post<Row>(`/api/connections/${part(name)}/cure`);
    act.print(answer, () => `${name} is mended; what waited for it goes on\n${idLines(answer)}`);
    return undefined;
  });
}

/** One fact a line; what belongs to it is indented below. */
function shown(answer: Row): string {
  const { schema: _schema, kind, row, ...related } = answer;
  return [
    `${text(kind)}\n`,
    facts(row, '  '),
    ...Object.entries(related).map(([name, value]) => named(name, value)),
  ].join('');
}

function named(name: string, value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return '';
  if (name === 'next')
    return stepsOf(value)
      .map((step) => `${nextLine(step)}\n`)
      .join('');
  if (Array.isArray(value)) return `${name}\n${value.map((each) => `  - ${inOneLine(each)}\n`).join('')}`;
  return typeof value === 'object' ? `${name}\n${facts(value, '  ')}` : `${name}: ${oneLine(text(value))}\n`;
}

function facts(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return `${indent}${text(value)}\n`;
  return Object.entries(value)
    .filter(([, each]) => each !== null && each !== '')
    .map(([key, each]) => `${indent}${key}: ${fact(key, each)}\n`)
    .join('');
}

/** Of a row only what tells it from others; `show` of its id has the rest. */
const TELLING = [
  'id',
  'handler',
  'handlerName',
  'topic',
  'messageId',
  'trigger',
  'phase',
  'status',
  'state',
  'title',
  'message',
  'says',
  'detail',
];

function inOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return oneLine(text(value));
  const row = value as Row;
  const told = TELLING.map((key) => text(row[key])).filter((each) => each !== '');
  return oneLine(told.length === 0 ? text(value) : told.join('  '));
}

function fact(key: string, value: unknown): string {
  if (typeof value === 'number' && /(?:At|Until|Timestamp|Deadline|^since)$/.test(key))
    return new Date(value).toISOString();
  return oneLine(text(value));
}
