import type { Event, Mutation, Rows, Run } from '#model';
import type { Outside } from './outside.ts';

/** The promise, when all is done: what the rows say against what happened outside. In words what is not so. */
export function verdict(rows: Rows, outside: Outside): string[] {
  return [
    ...rows.mutations.values().flatMap((row) => untrue(row, outside)),
    ...repeated(rows, outside),
    ...otherKeys(rows, outside),
    ...lost(rows, outside),
    ...rows.events.values().flatMap((event) => consumedForNothing(rows, event, outside)),
    ...rows.events.values().flatMap((event) => changedInBetween(rows, event, outside)),
    ...rows.runs.values().flatMap((run) => unkept(rows, run, outside)),
    ...misheard(rows, outside),
    ...uncaused(rows),
    ...unscheduled(rows),
  ];
}

/** What the ledger says of a call is what happened, or somebody said it who was wrong. */
function untrue(row: Mutation, outside: Outside): string[] {
  const happened = outside.hasEffect(row.id);
  const isThere = happened || outside.calls.some(({ key, landsAt }) => key === row.idempotencyKey && landsAt);
  if (isTrue(row, outside, happened, isThere)) return [];
  return [`call ${row.id} is ${row.status} by ${row.resolvedBy}, and it ${happened ? 'happened' : 'did not happen'}`];
}

function isTrue(row: Mutation, outside: Outside, happened: boolean, isThere: boolean): boolean {
  const claimedWrongly = outside.claims.some(
    ({ mutation, says, isTrue: isSo }) => mutation === row.id && says === row.status && !isSo,
  );
  switch (row.resolvedBy) {
    case null:
      return false;
    case 'provider':
      return row.status === 'applied' ? happened : !happened || hasLied(row, outside);
    case 'reconcile':
      return row.status === 'applied' ? isThere : !happened;
    case 'user_assert_applied':
      return isThere || claimedWrongly;
    case 'user_assert_failed':
      return !happened || claimedWrongly;
    case 'user_skip':
      return true;
    case 'user_reject':
    case 'expired':
      return !happened;
  }
}

/** A definite answer that reached the engine is what the ledger goes by, or it is kept as evidence. */
export function unheard(rows: Rows, { heard }: Outside): string[] {
  return heard.flatMap(({ mutation, isGone }) => {
    const isKept = rows.evidence.values().some(({ mutationId }) => mutationId === mutation);
    if (isGone() || isKept || rows.mutations.get(mutation)?.resolvedBy === 'provider') return [];
    return [`the answer to call ${mutation} was heard, and is lost`];
  });
}

function hasLied({ id }: Mutation, { calls }: Outside): boolean {
  return calls.some(({ mutation, ends }) => mutation === id && ends === 'refused, but done');
}

/** At most once for any event, but for those of which somebody said that it had not been. The names are those the calls carry. */
function repeated(rows: Rows, { calls }: Outside): string[] {
  const effects = calls.filter(({ landsAt }) => landsAt !== undefined);
  return [...new Set(effects.flatMap(({ events }) => events))].flatMap((event) => {
    const its = effects.filter(({ events }) => events.includes(event));
    const denied = its.filter(({ mutation }) => isDenied(rows.mutations.get(mutation)));
    return its.length > 1 + denied.length ? [`${event} had its effect ${its.length} times`] : [];
  });
}

/** Said not to have happened, by a person or the provider; whether they could say so is judged for itself. */
function isDenied(row: Mutation | undefined): boolean {
  return row?.status === 'failed' && (row.resolvedBy === 'user_assert_failed' || row.resolvedBy === 'provider');
}

/** The same call again looks the same to the service, unless it was refused there, or on the way there, in between. */
function otherKeys(rows: Rows, { calls }: Outside): string[] {
  return calls.flatMap((call, position) => {
    const before = calls.slice(0, position).findLast(({ events }) => events.join() === call.events.join());
    if (!before || before.key === call.key) return [];
    const between = rows.mutations.matching(({ id }) => id >= before.mutation && id < call.mutation);
    if (between.some(({ resolvedBy }) => resolvedBy === 'provider')) return [];
    return [`the call for ${call.events.join(', ')} went out again under another key`];
  });
}

/** Nothing that was accepted is lost. */
function lost(rows: Rows, { accepted }: Outside): string[] {
  const kept = new Set([
    ...rows.events.values().map(({ workflowId, topic, messageId }) => `${workflowId} ${topic} ${messageId}`),
    ...rows.deliveries.values().map(({ workflowId, deliveryId }) => `${workflowId} delivery ${deliveryId}`),
  ]);
  return [...accepted].filter((what) => !kept.has(what)).map((what) => `${what} was accepted, and is lost`);
}

/** No event is consumed without its call, unless its script made none. */
function consumedForNothing(rows: Rows, event: Event, { uncalled }: Outside): string[] {
  const run = event.status === 'consumed' && event.reservedByRunId ? rows.runs.get(event.reservedByRunId) : undefined;
  if (!run || !specOf(rows, run)?.hasMutate || uncalled.has(run.rootRunId)) return [];
  const applied = rows.mutations.matching((row) => row.rootRunId === run.rootRunId && row.status === 'applied');
  return applied.length > 0 ? [] : [`${event.topic} ${event.messageId} was consumed, and nobody made its call`];
}

/** A run that committed kept what its script said at its end, and that had been told the truth; unless a person finished it without. */
function unkept(rows: Rows, run: Run, { said }: Outside): string[] {
  const isIdle = run.prepareResult === null && !rows.events.values().some((event) => event.reservedByRunId === run.id);
  const hasLastWords = run.handlerType === 'producer' || (!isIdle && specOf(rows, run)?.hasNext);
  const isFinished = rows.audit
    .values()
    .some(({ act, subject }) => act === 'finish without next' && subject === run.id);
  if (run.status !== 'committed' || !hasLastWords || isFinished) return [];
  const words = said.get(run.id);
  if (!words) return [`run ${run.id} committed, and its script never ended`];
  const problems = words.published
    .filter((name) => !isKept(rows, run, name))
    .map((name) => `run ${run.id} published ${name}, and it is lost`);
  if (run.outputState !== words.state) problems.push(`run ${run.id} gave a state, and it is lost`);
  if (run.handlerType === 'consumer' && words.told !== toldOf(rows, run))
    problems.push(`next of run ${run.id} was told that its call was ${words.told}`);
  return problems;
}

function isKept(rows: Rows, { workflowId }: Run, name: string): boolean {
  return rows.events
    .values()
    .some((event) => event.workflowId === workflowId && `${event.topic} ${event.messageId}` === name);
}

function toldOf(rows: Rows, { rootRunId }: Run): string {
  const [row] = rows.mutations.matching((one) => one.rootRunId === rootRunId);
  return row === undefined ? 'none' : row.status === 'applied' ? 'applied' : 'skipped';
}

/** What a call was made for is what its script saw. */
function changedInBetween(rows: Rows, event: Event, { seen }: Outside): string[] {
  const run = event.status === 'consumed' && event.reservedByRunId ? rows.runs.get(event.reservedByRunId) : undefined;
  const payload = run && seen.get(`${run.rootRunId} ${event.messageId}`);
  if (payload === undefined || payload === event.payload) return [];
  return [`${event.topic} ${event.messageId} was consumed with a payload that its script never saw`];
}

/** A producer with a schedule has a next time. */
function unscheduled(rows: Rows): string[] {
  return rows.workflows.values().flatMap(({ id, activeScriptId }) => {
    const producers = activeScriptId === null ? [] : (rows.scripts.get(activeScriptId)?.handlers.producers ?? []);
    return producers
      .filter(({ webhook, name }) => !webhook && rows.handlerStates.get(`${id} ${name}`)?.nextAt == null)
      .map(({ name }) => `${name} will never run again`);
  });
}

/** What a webhook published is about what was delivered. */
function misheard(rows: Rows, { said }: Outside): string[] {
  return rows.deliveries.values().flatMap(({ workflowId, deliveryId, runId }) => {
    const { published = [] } = (runId === null ? undefined : said.get(runId)) ?? {};
    const wanted = `order ${rows.workflows.get(workflowId)?.name}${deliveryId}`;
    return published.length === 0 || published.includes(wanted)
      ? []
      : [`delivery ${deliveryId} became ${published.join()}`];
  });
}

/** What is published names what it came from: by a producer what it registered, by a consumer what its own events came from. */
function uncaused(rows: Rows): string[] {
  const causes = new Map<string, string[]>();
  for (const { eventId, inputId } of rows.eventInputs.values())
    causes.set(eventId, [...(causes.get(eventId) ?? []), inputId]);
  return rows.events.values().flatMap(({ id, topic, messageId, publishedByRunId }) => {
    const run = publishedByRunId === null ? undefined : rows.runs.get(publishedByRunId);
    const own = causes.get(id) ?? [];
    const taken = rows.events.values().filter((event) => event.reservedByRunId === publishedByRunId);
    const wanted = taken.flatMap((event) => causes.get(event.id) ?? []);
    const isCaused = run?.handlerType === 'producer' ? own.length > 0 : wanted.every((input) => own.includes(input));
    return !run || isCaused ? [] : [`${topic} ${messageId} does not say what it came from`];
  });
}

function specOf(rows: Rows, { scriptId, handlerName }: Run) {
  return rows.scripts.get(scriptId)?.handlers.consumers.find(({ name }) => name === handlerName);
}
