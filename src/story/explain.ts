import {
  type DeliveryId,
  type EventId,
  type InputId,
  idShapeOf,
  type MutationId,
  RefusedError,
  type RunId,
  type WorkflowId,
} from '#base';
import type { Delivery, Event, Input, Mutation, Session, Workflow } from '#model';
import { deliveryStory } from './deliveries.ts';
import { inputStory } from './inputs.ts';
import { statusOf } from './status.ts';
import type { Teller } from './teller.ts';
import { auditLines, callLines, chainLines, deliveryLine, eventLines, inputLines, type Line } from './timeline.ts';
import { eventsOfInput, inputsOf, outputsOfEvent, runOf } from './trail.ts';
import { newestFirst } from './versions.ts';
import { count, EVENT_WORDS, elapsed, oneLine, outcomeWords, stamp, TRIGGER_WORDS } from './words.ts';

export interface Explained {
  readonly kind: 'workflow' | 'run' | 'event' | 'input' | 'output' | 'delivery';
  readonly id: string;
  /** What happened, each with its time; what is said of now has none. */
  readonly lines: readonly (Line | { readonly at: null; readonly text: string })[];
  /** The same as sentences, with the times of the clock of this machine. */
  readonly story: readonly string[];
}

/** Longer stories are told by their beginning. */
const EVENTS_TOLD = 50;
const SESSIONS_TOLD = 20;
const RUNS_TOLD = 20;
const AUDIT_TOLD = 100;

/** The story of one thing, in the order it happened; a workflow may be given by its name. */
export async function explain(teller: Teller, id: string): Promise<Explained> {
  const { history } = teller;
  const [named] = await history.fetch('workflowNamed', id);
  if (named) return workflowStory(teller, named);
  switch (idShapeOf(id)) {
    case 'workflow': {
      const [row] = await history.fetch('workflow', id as WorkflowId);
      return row ? await workflowStory(teller, row) : unknown(id);
    }
    case 'run': {
      const [row] = await history.fetch('run', id as RunId);
      return row ? explained('run', id, await chainLines(teller, row)) : unknown(id);
    }
    case 'event': {
      const [row] = await history.fetch('event', id as EventId);
      return row ? await eventStory(teller, row) : unknown(id);
    }
    case 'input': {
      const row = await history.input(id as InputId);
      return row ? await wholeInputStory(teller, row) : unknown(id);
    }
    case 'mutation': {
      const [row] = await history.fetch('mutation', id as MutationId);
      return row ? await callStory(teller, row) : unknown(id);
    }
    case 'delivery': {
      const [row] = await history.fetch('delivery', id as DeliveryId);
      return row ? await wholeDeliveryStory(teller, row) : unknown(id);
    }
    default:
      return unknown(id);
  }
}

async function callStory(teller: Teller, row: Mutation): Promise<Explained> {
  const run = await runOf(teller, row.rootRunId);
  const lines = [
    ...inputLines(await inputsOf(teller, row.eventIds)),
    ...(run ? await chainLines(teller, run) : await callLines(teller, row)),
  ];
  const words = row.resolvedAt === null ? [`Now: ${outcomeWords(row)}.`] : [];
  return explained('output', row.id, lines, words);
}

async function wholeDeliveryStory(teller: Teller, row: Delivery): Promise<Explained> {
  const { runs, sentence } = await deliveryStory(teller, row);
  const told = runs.slice(-RUNS_TOLD);
  const lines = [deliveryLine(row), ...(await Promise.all(told.map((run) => chainLines(teller, run)))).flat()];
  const more =
    runs.length > RUNS_TOLD
      ? [`It was handed over ${count(runs.length, 'time')}; the last ${RUNS_TOLD} are told here.`]
      : [];
  return explained('delivery', row.id, lines, [...more, `Now: ${sentence}.`]);
}

async function eventStory(teller: Teller, event: Event): Promise<Explained> {
  const lines = [...(await eventLines(teller, event)), ...(await workLines(teller, event))];
  const redone = await teller.history.redosOf(event.id, EVENTS_TOLD);
  const again = redone.map((each) => `It was made again as ${each.id}, which is ${EVENT_WORDS[each.status]}.`);
  return explained('event', event.id, lines, [`Now: ${EVENT_WORDS[event.status]}.`, ...again]);
}

/** Every run that worked on an event, with its call. */
async function workLines(teller: Teller, event: Event): Promise<Line[]> {
  const roots = (await outputsOfEvent(teller, event)).map((row) => row.rootRunId);
  const taken = await runOf(teller, event.reservedByRunId);
  const all = new Set([...roots, ...(taken ? [taken.rootRunId] : [])]);
  return (
    await Promise.all(
      [...all].map(async (root) => {
        const run = await runOf(teller, root);
        return run ? await chainLines(teller, run) : [];
      }),
    )
  ).flat();
}

async function wholeInputStory(teller: Teller, input: Input): Promise<Explained> {
  const events = await eventsOfInput(teller, input);
  const lines = (
    await Promise.all(
      events
        .slice(0, EVENTS_TOLD)
        .map(async (event) => [...(await eventLines(teller, event)), ...(await workLines(teller, event))]),
    )
  ).flat();
  const { sentence } = await inputStory(teller, input);
  const more =
    events.length > EVENTS_TOLD
      ? [`It caused ${count(events.length, 'event')}; the first ${EVENTS_TOLD} are told here.`]
      : [];
  return explained('input', input.id, [...inputLines([input]), ...lines], [...more, `Now: ${sentence}.`]);
}

async function workflowStory(teller: Teller, workflow: Workflow): Promise<Explained> {
  const { history } = teller;
  const versions = [...(await history.fetch('scriptsOf', workflow.id))].sort(newestFirst);
  const sessions = await history.sessions(workflow.id, { limit: SESSIONS_TOLD + 1 });
  const lines: Line[] = [
    ...auditLines(await history.audit(workflow.id, AUDIT_TOLD)),
    ...(
      await Promise.all(versions.map(async (script) => auditLines(await history.audit(script.id, AUDIT_TOLD))))
    ).flat(),
    ...(await Promise.all(sessions.slice(0, SESSIONS_TOLD).map((session) => sessionLine(teller, session)))),
  ];
  const more =
    sessions.length > SESSIONS_TOLD
      ? [`Of its sessions the last ${SESSIONS_TOLD} are told here; pawl sessions ${workflow.name} lists all.`]
      : [];
  return explained('workflow', workflow.id, lines, [...more, `Now: ${(await statusOf(teller, workflow)).sentence}.`]);
}

async function sessionLine({ history }: Teller, session: Session): Promise<Line> {
  const [execution] = await history.fetch('execution', session.executionId);
  const words = sessionWords(session, execution?.status === 'timeout');
  const text = `a session began ${TRIGGER_WORDS[session.trigger]} and ${words} (${session.id})`;
  return { at: session.startTimestamp, text };
}

/** One that was stopped for its time says so by its error. */
function sessionWords(session: Session, isLate: boolean): string {
  if (session.endTimestamp === null) return 'is under way';
  const took = elapsed(session.endTimestamp - session.startTimestamp);
  const runs = count(session.handlerRunCount, 'run');
  return session.result === 'completed'
    ? `committed ${runs} in ${took}${isLate ? ', until its time limit was over' : ''}`
    : `stopped after ${runs} and ${took}: ${oneLine(session.error ?? '', 160)}`;
}

/** In the order of time, each line once; then how it stands. */
function explained(
  kind: Explained['kind'],
  id: string,
  lines: readonly Line[],
  standing: readonly string[] = [],
): Explained {
  const once = new Map(lines.map((line) => [`${stamp(line.at)} ${line.text}`, line]));
  const ordered = [...once].sort(([, a], [, b]) => a.at - b.at);
  return {
    kind,
    id,
    lines: [...ordered.map(([, line]) => line), ...standing.map((text) => ({ at: null, text }))],
    story: [...ordered.map(([sentence]) => sentence), ...standing],
  };
}

function unknown(id: string): never {
  throw new RefusedError({
    code: 'not-found',
    message: `there is nothing to tell of ${JSON.stringify(id.slice(0, 60))}`,
    why: 'it is no workflow, and no id of a run, event, input, output or delivery that exists',
    next: [{ label: 'see the workflows', argv: ['pawl', 'workflows'] }],
  });
}
