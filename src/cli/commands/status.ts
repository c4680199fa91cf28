import type { Command } from 'commander';
import { RefusedError } from '#base';
import type { Client } from '../client.ts';
import { define, type Ended, stepsOf } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { oneLine } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { duration, moment, typed } from '../words.ts';

interface Standing {
  readonly name: string;
  readonly kind: string;
  readonly id?: string;
  readonly sentence: string;
  readonly since: number | null;
  readonly blocks?: unknown;
  readonly evidence?: unknown;
  readonly next: unknown;
}

interface ChannelState {
  readonly name: string;
  readonly status: string;
  readonly error: string | null;
  readonly waiting: number;
}

/** Nobody hears of what needs them: that needs somebody too. */
function channelText({ name, error, waiting }: ChannelState): string {
  const left = waiting === 0 ? '' : `  waiting: ${waiting} to be told\n`;
  return `channel ${name}: nobody is told: ${oneLine(error ?? '')}\n${left}  next: ${typed(['pawl', 'channels', 'test', name])}   (after mending it)\n`;
}

/** The two commands for 3 am: how everything stands, and what waits for a person. */
export function addStatus(program: Command, terminal: Terminal, ended: Ended): void {
  const status = program
    .command('status [workflow]')
    .description('say how each workflow stands, or one, since when, what that blocks, and what to type');
  define<[string | undefined]>(terminal, ended, status, async (act, named) => {
    const engine = await act.engine();
    if (named !== undefined) {
      const answer = await standingOf(engine, named);
      act.print(answer, () => answer.items.map(standingText).join('\n'));
      return undefined;
    }
    const answer = await engine.all<Standing>('/api/status');
    const channels = await engine.all<ChannelState>('/api/channels');
    const failing = channels.items.filter((channel) => channel.status === 'failing');
    const standing =
      answer.items.length === 0
        ? ['no workflow yet\n  next: deploy one: pawl deploy FILE\n']
        : troubledFirst(answer.items).map(standingText);
    act.print({ ...answer, channels: channels.items }, () => [...standing, ...failing.map(channelText)].join('\n'));
    return undefined;
  });

  const needs = program.command('needs').description('list only what waits for a person; ends with 6 if anything does');
  define(terminal, ended, needs, async (act) => {
    const answer = await (await act.engine()).all<Standing>('/api/needs');
    act.print(answer, () =>
      answer.items.length === 0 ? 'nothing waits for a person\n' : answer.items.map(standingText).join('\n'),
    );
    return answer.items.length === 0 ? EXIT.ok : EXIT.needsPerson;
  });
}

async function standingOf(engine: Client, workflow: string): Promise<{ readonly items: readonly Standing[] }> {
  const answer = await engine.all<Standing>('/api/status', { workflow });
  if (answer.items.length > 0) return answer;
  const { items } = await engine.all<{ readonly name: string }>('/api/workflows');
  const names = items.slice(0, NAMED_MAX).map(({ name }) => name);
  const more = items.length - names.length;
  throw new RefusedError({
    code: 'not-found',
    message: `there is no workflow ${JSON.stringify(workflow.slice(0, 100))}`,
    why:
      names.length === 0
        ? 'none is deployed yet'
        : `there is ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    next: [{ label: 'see how all of them stand', argv: ['pawl', 'status'] }],
  });
}

const NAMED_MAX = 10;

/** Kinds of standing that need nobody. */
const CALM = new Set([
  'idle',
  'due',
  'running',
  'cancelling',
  'limited',
  'worker',
  'quiet',
  'ready',
  'draft',
  'archived',
]);

function troubledFirst(items: readonly Standing[]): readonly Standing[] {
  const isCalm = ({ kind }: Standing): boolean => CALM.has(kind);
  return [...items.filter((item) => !isCalm(item)), ...items.filter(isCalm)];
}

function standingText({ name, id, sentence, since, blocks, evidence, next }: Standing): string {
  const now = Date.now();
  const lines = [
    `${name}: ${oneLine(sentence)}`,
    ...(id === undefined ? [] : [`  id: ${id}`]),
    ...(since === null || since === undefined
      ? []
      : [`  since: ${moment(since, now)} (${duration(Math.max(0, now - since))})`]),
    ...sentences('blocks', blocks),
    ...sentences('evidence', evidence),
    ...stepsOf(next).map(({ label, argv }) =>
      argv === undefined ? `  next: ${label}` : `  next: ${typed(argv)}   (${label})`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function sentences(title: string, value: unknown): string[] {
  const all = Array.isArray(value) ? value : value === null || value === undefined || value === '' ? [] : [value];
  return all.map((each) => `  ${title}: ${oneLine(typeof each === 'string' ? each : JSON.stringify(each))}`);
}
