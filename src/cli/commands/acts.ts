import type { Command } from 'commander';
import { idShapeOf } from '#base';
import { type Client, part } from '../client.ts';
import { type Act, type Common, define, type Ended, stepsOf } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { nextLine } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { plural } from '../words.ts';
import { type Row, text } from './columns.ts';
import { workflowNamed } from './workflow-named.ts';

interface WorkflowVerb {
  readonly verb: string;
  readonly alias?: string;
  readonly says: string;
  readonly done: string | ((answer: Row) => string);
  /** Asked of a person at a terminal; nobody is asked anywhere else. */
  readonly ask?: string;
}

const WORKFLOW_VERBS: readonly WorkflowVerb[] = [
  { verb: 'trigger', alias: 'run', says: 'run a workflow now, its producers too', done: 'is triggered' },
  { verb: 'pause', says: 'start no further run and send nothing new', done: 'is paused' },
  { verb: 'resume', says: 'lift a pause or an error', done: 'is resumed' },
  { verb: 'cancel', says: 'stop the session under way at a safe point', done: cancelled },
  { verb: 'retry', says: 'leave repair, and try again as it is', done: 'tries again' },
  {
    verb: 'archive',
    says: 'put a workflow away for good',
    done: 'is archived',
    ask: 'put this workflow away for good?',
  },
];

const EVENT_VERBS = [
  { verb: 'park', says: 'put pending events aside', done: 'parked' },
  { verb: 'unpark', says: 'bring parked events back', done: 'pending again' },
  { verb: 'redo', says: 'do consumed or skipped events again, as new ones', done: 'to be done again' },
] as const;

export function addActs(program: Command, terminal: Terminal, ended: Ended): void {
  for (const spec of WORKFLOW_VERBS) addWorkflowVerb(program, terminal, ended, spec);
  addSkip(program, terminal, ended);
  for (const { verb, says, done } of EVENT_VERBS) {
    const command = program.command(`${verb} <events-or-outputs...>`).description(says);
    define<[string[]]>(terminal, ended, command, async (act, named) => actOnEvents(act, verb, done, named));
  }
  const finish = program.command('finish <run>').description('end a stopped run without its next, its events consumed');
  define<[string]>(terminal, ended, finish, async (act, run) => {
    const answer = await (await act.engine()).post<Row>(`/api/runs/${part(run)}/finish`);
    act.print(answer, () => `${run} is finished without next\n${idLines(answer)}`);
    return undefined;
  });
  addRollback(program, terminal, ended);
}

function addSkip(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('skip <events-or-outputs-or-delivery...>')
    .description('mark pending or parked events, or the delivery that a webhook failed on, as not to be done');
  define<[string[]]>(terminal, ended, command, async (act, named) => {
    const delivery = named.find((id) => idShapeOf(id) === 'delivery');
    if (delivery === undefined) return actOnEvents(act, 'skip', 'skipped', named);
    if (named.length > 1) {
      const alone = { label: 'skip it alone', argv: ['pawl', 'skip', delivery] };
      throw new UsageError('a delivery is skipped by itself', `${named.length} things were named`, [alone]);
    }
    const answer = await (await act.engine()).post<Row>(`/api/deliveries/${part(delivery)}/skip`);
    act.print(answer, () => `the delivery is skipped\n${idLines(answer)}`);
    return undefined;
  });
}

async function actOnEvents(act: Act<Common>, verb: string, done: string, named: readonly string[]): Promise<undefined> {
  const engine = await act.engine();
  const events = (await Promise.all(named.map((id) => eventsOf(engine, id)))).flat();
  const answer = await engine.post<Row>(`/api/events/${verb}`, { events });
  act.print(answer, () => `${plural(events.length, 'event')} ${done}\n${idLines(answer)}`);
}

function addWorkflowVerb(program: Command, terminal: Terminal, ended: Ended, spec: WorkflowVerb): void {
  const { verb, alias, says, done, ask } = spec;
  const command = program.command(`${verb} [workflow]`).description(says);
  if (alias !== undefined) command.alias(alias);
  if (ask !== undefined) command.option('--yes', 'do not ask');
  define<[string | undefined], Common & { yes?: boolean }>(terminal, ended, command, async (act, named) => {
    const engine = await act.engine();
    const workflow = await workflowNamed(engine, named, verb);
    if (ask !== undefined && !(await isSure(act, `${workflow}: ${ask}`))) return EXIT.failed;
    const answer = await engine.post<Row>(`/api/workflows/${part(workflow)}/${verb}`);
    act.print(answer, () => `${workflow} ${doneWords(done, answer)}${standing(answer)}\n${idLines(answer)}`);
    return undefined;
  });
}

function doneWords(done: WorkflowVerb['done'], answer: Row): string {
  return typeof done === 'string' ? done : done(answer);
}

/** Before the handoff it is over at once; after it, whoever runs it ends it. */
function cancelled(answer: Row): string {
  return answer.cancelled === true ? 'is cancelled, before anything of it began' : 'is being cancelled';
}

async function isSure(act: Act<Common & { yes?: boolean }>, question: string): Promise<boolean> {
  if (act.options.yes === true || !act.terminal.isInteractive) return true;
  return act.terminal.confirm(question);
}

function addRollback(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('rollback <workflow> [version]')
    .description('let the version before, or the one named, take over again');
  define<[string, string | undefined]>(terminal, ended, command, async (act, workflow, version) => {
    const answer = await (await act.engine()).post<Row>(
      `/api/workflows/${part(workflow)}/rollback`,
      version === undefined ? {} : { version },
    );
    const steps = stepsOf(answer.next).map((step) => `${nextLine(step)}\n`);
    act.print(
      answer,
      () => `${workflow} runs ${text(answer.version)} again${standing(answer)}\n${idLines(answer)}${steps.join('')}`,
    );
    return undefined;
  });
}

/** An output stands for the events it was made for. */
async function eventsOf(engine: Client, id: string): Promise<readonly string[]> {
  if (idShapeOf(id) !== 'mutation') return [id];
  const { row } = await engine.get<{ row: { eventIds: readonly string[] } }>(`/api/show/${part(id)}`);
  return row.eventIds;
}

/** What an event or a run got as its name, for whoever goes on with it. */
export function idLines(answer: Row): string {
  const ids = Object.entries(answer).flatMap(([key, value]) => {
    if (isId(value)) return [`  ${key}: ${value}\n`];
    return Array.isArray(value) ? value.flatMap((each) => idOf(each)).map((id) => `  ${key}: ${id}\n`) : [];
  });
  return ids.join('');
}

function idOf(value: unknown): string[] {
  if (isId(value)) return [value];
  return typeof value === 'object' && value !== null && 'id' in value && isId(value.id) ? [value.id] : [];
}

function isId(value: unknown): value is string {
  return idShapeOf(value) !== undefined;
}

function standing(answer: Row): string {
  return typeof answer.status === 'string' ? `; the workflow is ${answer.status}` : '';
}
