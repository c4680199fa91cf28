import { idPlaceAt, type WorkflowId } from '#base';
import type { SqlValue } from './columns.ts';
import type { History, LogLine, LogPage, TimeSpan } from './history.ts';
import type { Asked, Read, ReadsOf } from './reads.ts';
import { AUDIT_LOG } from './statements/audit-log.ts';
import { COUNTS } from './statements/counts.ts';
import { EVENTS } from './statements/events.ts';
import { HANDLER_RUNS } from './statements/handler-runs.ts';
import { HISTORY, LOGGED_RUNS_MAX } from './statements/history.ts';
import { INPUTS } from './statements/inputs.ts';
import { EVIDENCE, MUTATIONS } from './statements/mutations.ts';
import { SECRETS, TOKENS } from './statements/people.ts';
import { RUN_LOGS, RUN_READS } from './statements/run-records.ts';
import { SCRIPT_RUNS } from './statements/script-runs.ts';
import type { SqlText } from './statements/statement.ts';
import { WORKFLOWS } from './statements/workflows.ts';

/** After every id and every name: a first page that goes backwards begins here. */
const LAST = '~';
const POSITION_LAST = Number.MAX_SAFE_INTEGER;

type Params = Readonly<Record<string, SqlValue | undefined>>;
type Parse<R> = (values: readonly SqlValue[]) => R;

/** What every history says of the past, whoever waits for the rows. */
export const PAST = {
  *countMade(what, span) {
    const kind = what === 'inputs' ? 'input' : 'mutation';
    return yield* count(span.workflow === undefined ? what : `${what}OfWorkflow`, spanParams(kind, span));
  },

  *countTroubled(status, span) {
    const listing = span.workflow === undefined ? 'troubled' : 'troubledOfWorkflow';
    return yield* count(listing, { ...spanParams('mutation', span), status });
  },

  *countOfTopic(workflow, topic, status, max) {
    return yield* count(`${status}OfTopic`, { workflow, topic, limit: max });
  },

  *workflows({ after = '', limit }) {
    return yield* listed('workflows', { after, limit }, WORKFLOWS.parse);
  },

  *troubled({ after = '', limit }) {
    return yield* listed('troubled', { after, limit }, WORKFLOWS.parse);
  },

  *sessions(workflow, { after = LAST, limit, status }) {
    return yield* listed('sessions', { workflow, after, limit, status }, SCRIPT_RUNS.parse);
  },

  *runs(workflow, { after = LAST, limit, status, handler }) {
    const isStopped = status !== undefined && status !== 'committed' && status !== 'active';
    const params = { workflow, after, limit, status, handler };
    return yield* listed(isStopped ? 'stoppedRuns' : 'runs', params, HANDLER_RUNS.parse);
  },

  *runsOfSession(session, { after = '', limit }) {
    return yield* listed('runsOfSession', { session, after, limit }, HANDLER_RUNS.parse);
  },

  *runsOfChain(root, limit) {
    return yield* listed('runsOfChain', { root, limit }, HANDLER_RUNS.parse);
  },

  *mutations(workflow, { after = LAST, limit, status }) {
    if (workflow === null) return yield* listed('allMutations', { after, limit }, MUTATIONS.parse);
    const isTroubled = status !== undefined && status !== 'applied' && status !== 'in_flight';
    const listing = isTroubled ? 'troubledMutations' : 'mutations';
    return yield* listed(listing, { workflow, after, limit, status }, MUTATIONS.parse);
  },

  *evidence(mutation, limit) {
    return yield* listed('evidence', { mutation, limit }, EVIDENCE.parse);
  },

  *input(input) {
    return (yield* listed('input', { input }, INPUTS.parse))[0];
  },

  *inputs(workflow, { after = LAST, limit }) {
    if (workflow === null) return yield* listed('allInputs', { after, limit }, INPUTS.parse);
    return yield* listed('inputs', { workflow, after, limit }, INPUTS.parse);
  },

  *inputsOfEvent(event, limit) {
    return yield* listed('inputsOfEvent', { event, limit }, INPUTS.parse);
  },

  *eventsOfInput(input, { after = '', limit }) {
    return yield* listed('eventsOfInput', { input, after, limit }, EVENTS.parse);
  },

  *eventsPublishedBy(run, { after = '', limit }) {
    return yield* listed('eventsPublishedBy', { run, after, limit }, EVENTS.parse);
  },

  *redosOf(event, limit) {
    return yield* listed('redosOf', { event, limit }, EVENTS.parse);
  },

  *arrivedEvents(workflow, limit) {
    return yield* listed('arrivedEvents', { workflow, limit }, EVENTS.parse);
  },

  *readsOfWorkflow(workflow, limit) {
    return yield* listed('readsOfWorkflow', { workflow, limit }, RUN_READS.parse);
  },

  *logsOfRun(run, limit) {
    return yield* listed('logsOfRun', { run, position: -1, limit }, RUN_LOGS.parse);
  },

  *readsOfRun(run, limit) {
    return yield* listed('readsOfRun', { run, position: -1, limit }, RUN_READS.parse);
  },

  *logs(workflow, page): Read<LogPage> {
    const { run: after, position } = page.after ?? { run: LAST, position: POSITION_LAST };
    const { handler, limit } = page;
    const lines = yield* listed('logsOfRuns', { workflow, after, position, handler, limit }, parseLogLine);
    const last = lines.at(-1);
    if (last && lines.length === limit) return { lines, next: { run: last.runId, position: last.position } };
    // Runs that said nothing fill a page too: the next one begins after the last that was looked at.
    const looked = yield* listed('loggingRuns', { workflow, after, handler }, ([id]) => String(id));
    const oldest = looked.at(-1);
    return { lines, next: oldest && looked.length === LOGGED_RUNS_MAX ? { run: oldest, position: -1 } : null };
  },

  *audit(subject, limit) {
    return yield* listed('audit', { subject, limit }, AUDIT_LOG.parse);
  },

  *cancelledAt(workflow) {
    return (yield* listed('cancelledAt', { workflow }, ([at]) => Number(at)))[0] ?? null;
  },

  *tokens({ after = LAST, limit }) {
    return yield* listed('tokens', { after, limit }, TOKENS.parse);
  },

  *lateHandlers(before, limit) {
    return yield* listed('lateHandlers', { before, limit }, ([workflowId, handlerName, since]) => ({
      workflowId: workflowId as WorkflowId,
      handlerName: String(handlerName),
      transientSince: Number(since),
    }));
  },

  *secrets({ after = '', limit }) {
    return yield* listed('secrets', { after, limit }, SECRETS.parse);
  },

  *countPending(workflow, topic, max) {
    return (yield* listed('countPending', { workflow, topic, limit: max }, ([rows]) => Number(rows)))[0] ?? 0;
  },

  *countEvents(workflow, status, max) {
    const listing = { reserved: 'countReserved', parked: 'countParked' } as const;
    return (yield* listed(listing[status], { workflow, limit: max }, ([rows]) => Number(rows)))[0] ?? 0;
  },

  *pendingByTopic(max) {
    return yield* listed('pendingByTopic', { limit: max }, ([workflow, topic, count, oldestAt]) => ({
      workflow: workflow as WorkflowId,
      topic: String(topic),
      count: Number(count),
      oldestAt: Number(oldestAt),
    }));
  },

  *waitingDeliveries(max) {
    return yield* listed('waitingDeliveries', { limit: max }, ([workflow, count, oldestAt]) => ({
      workflow: workflow as WorkflowId,
      count: Number(count),
      oldestAt: Number(oldestAt),
    }));
  },

  *countDeliveries(workflow, max) {
    return (yield* listed('countDeliveries', { workflow, limit: max }, ([rows]) => Number(rows)))[0] ?? 0;
  },
} satisfies ReadsOf<Omit<History, 'fetch' | 'list' | 'close'>>;

function* listed<R>(name: keyof typeof HISTORY, params: Params, parse: Parse<R>): Read<readonly R[]> {
  return (yield asked(HISTORY[name], params)).map(parse);
}

function* count(name: keyof typeof COUNTS, params: Params): Read<number> {
  return Number((yield asked(COUNTS[name], params))[0]?.[0] ?? 0);
}

function asked(sql: string, params: Params): Asked {
  return { sql: sql as SqlText, params };
}

function spanParams(kind: 'input' | 'mutation', { workflow, from, to }: TimeSpan): Params {
  return { workflow, above: idPlaceAt(kind, from), below: idPlaceAt(kind, to) };
}

function parseLogLine(values: readonly SqlValue[]): LogLine {
  return { ...RUN_LOGS.parse(values), handlerName: String(values.at(-1)) };
}
