import type { EventId } from '#base';
import type { CommandOf, HandedOut, ReplyTo, Reservation } from '../command.ts';
import type { Draft } from '../draft.ts';
import { RESERVATIONS_MAX, RESULT_CHARS_MAX, WAKE_DELAY_MS_MAX, WAKE_DELAY_MS_MIN } from '../limits.ts';
import type { ConsumerRun, Event } from '../rows.ts';
import { consumerSpec, fencedRun, mustBeActive, mustBeConsumer, scriptRow } from '../rule/find.ts';
import { keep, keptState } from '../rule/keep.ts';
import { checkId, checkJson, refuse } from '../rule/refusal.ts';
import { stopRun } from '../rule/stop.ts';
import { CONSUMER_PHASE_STEPS, type ConsumerPhase, isStep } from '../states.ts';

type Take = CommandOf<'updateConsumerPhase'>;

/** One step forward. `prepared` also pins the inputs: it reserves the events, keeps the result and the wake time. */
export function updateConsumerPhase(draft: Draft, command: Take): ReplyTo<'updateConsumerPhase'> {
  const run = mustBeConsumer(fencedRun(draft, command.fence, command.run).run);
  mustBeActive(run, `moved to ${command.phase}`);
  checkStep(run, command.phase);
  if (command.phase === 'prepared') return prepared(draft, run, command);
  checkReserved(draft, run, command.phase);
  checkNoCall(draft, run, command.phase);
  draft.write({ set: 'run.phase', run: run.id, from: run.phase, to: command.phase });
  return { phase: command.phase };
}

function checkStep(run: ConsumerRun, to: ConsumerPhase): void {
  if (to === 'committed') {
    refuse(
      'use-other-method',
      `run ${run.id} cannot be moved to committed`,
      'a commit also consumes events, saves state and counts',
      {
        next: ['call commitConsumer'],
        ids: { run: run.id },
      },
    );
  }
  if (isStep<ConsumerPhase>(CONSUMER_PHASE_STEPS, run.phase, to)) return;
  const legal = CONSUMER_PHASE_STEPS[run.phase].join(' or ');
  refuse(
    'wrong-phase',
    `run ${run.id} is ${run.phase}, so it cannot move to ${to}`,
    `from ${run.phase} the only step is to ${legal}`,
    {
      next: [`move it to ${legal}`],
      ids: { run: run.id },
    },
  );
}

/** Nothing reserved: straight to `next`. Something reserved: through `mutate`, even if that makes no call. */
function checkReserved(draft: Draft, run: ConsumerRun, to: ConsumerPhase): void {
  if (run.phase !== 'prepared') return;
  const right = draft.find('reserved', run.id).length > 0 ? 'mutating' : 'emitting';
  if (to === right) return;
  refuse(
    'wrong-phase',
    `run ${run.id} cannot move from prepared to ${to}`,
    `with what it reserved its next phase is ${right}`,
    {
      next: [`move it to ${right}`],
      ids: { run: run.id },
    },
  );
}

/** A call that was made decides by its result when the run is mutated. */
function checkNoCall(draft: Draft, run: ConsumerRun, to: ConsumerPhase): void {
  const ledger = to === 'mutated' ? draft.one('ledger', run.rootRunId) : undefined;
  if (!ledger) return;
  refuse(
    'use-other-method',
    `run ${run.id} made call ${ledger.id}, which is ${ledger.status}`,
    'the outcome of a call moves the run',
    {
      next: ['record the outcome with updateMutationResult'],
      ids: { run: run.id, mutation: ledger.id },
    },
  );
}

function prepared(draft: Draft, run: ConsumerRun, command: Take): ReplyTo<'updateConsumerPhase'> {
  if (command.prepareResult !== undefined) checkJson('the prepare result', command.prepareResult, RESULT_CHARS_MAX);
  for (const { event } of command.handedOut ?? []) checkId('event', event);
  const reservations = command.reservations ?? [];
  const found = findReserved(draft, run, reservations, command.handedOut ?? []);
  if ('problem' in found) return cannotReserve(draft, run, found, command);
  draft.write({ set: 'run.prepared', run: run.id, prepareResult: command.prepareResult ?? null });
  if (found.events.length > 0) draft.write({ set: 'events.reserved', run: run.id, events: found.events });
  const kept = keptState(draft, run.workflowId, run.handlerName);
  keep(draft, kept, { wakeAt: clampedWakeAt(draft.now, command.wakeAt) });
  return { phase: 'prepared' };
}

function clampedWakeAt(now: number, wakeAt: number | undefined): number | null {
  if (wakeAt === undefined || !Number.isFinite(wakeAt)) return null;
  return Math.min(Math.max(Math.round(wakeAt), now + WAKE_DELAY_MS_MIN), now + WAKE_DELAY_MS_MAX);
}

type Problem = {
  problem: string;
  why: string;
  changed: boolean;
  code: 'event-unavailable' | 'not-subscribed' | 'invalid';
};

function findReserved(
  draft: Draft,
  run: ConsumerRun,
  reservations: readonly Reservation[],
  handedOut: readonly HandedOut[],
): { events: EventId[] } | Problem {
  const spec = consumerSpec(scriptRow(draft, run.scriptId), run.handlerName);
  const events = new Set<EventId>();
  for (const { topic, ids } of reservations) {
    if (!spec?.subscribe.includes(topic)) return notSubscribed(run, topic);
    for (const messageId of ids) {
      const event = draft.one('eventKeyed', run.workflowId, topic, messageId);
      if (!event)
        return never(
          `event ${messageId} of topic ${topic} does not exist in this workflow`,
          'it was never published here',
        );
      if (events.has(event.id))
        return never(`event ${messageId} of topic ${topic} is reserved twice in one list`, 'an event is consumed once');
      const seen = handedOut.find((handed) => handed.event === event.id);
      if (event.status !== 'pending') {
        return {
          ...never(`event ${messageId} of topic ${topic} is ${event.status}`, 'only pending events can be reserved'),
          changed: seen !== undefined,
        };
      }
      if (seen && !isAsSeen(draft, seen, event)) {
        return {
          ...never(`event ${messageId} of topic ${topic} was changed`, 'it is not what the script saw'),
          changed: true,
        };
      }
      events.add(event.id);
    }
  }
  if (events.size > RESERVATIONS_MAX) {
    return {
      ...never(`${events.size} events are reserved at once`, `at most ${RESERVATIONS_MAX} fit in one run`),
      code: 'invalid',
    };
  }
  return { events: [...events].sort() };
}

function isAsSeen(draft: Draft, { pendingSeq }: HandedOut, event: Event): boolean {
  return pendingSeq === undefined ? draft.hasMade(event.id) : pendingSeq === event.pendingSeq;
}

function never(problem: string, why: string): Problem {
  return { problem, why, changed: false, code: 'event-unavailable' };
}

function notSubscribed(run: ConsumerRun, topic: string): Problem {
  const problem = `consumer ${run.handlerName} does not subscribe to topic ${topic}`;
  return { problem, why: 'a consumer reserves only what it subscribes to', changed: false, code: 'not-subscribed' };
}

/** An event that changed under the run is nobody's fault: start over. One that could never hold is the script's. */
function cannotReserve(draft: Draft, run: ConsumerRun, found: Problem, command: Take): ReplyTo<'updateConsumerPhase'> {
  if (!command.orStop) {
    refuse(found.code, `run ${run.id} cannot reserve: ${found.problem}`, found.why, {
      next: ['peek again and reserve what is pending'],
      ids: { run: run.id },
    });
  }
  const suspects = (command.handedOut ?? []).map((handed) => handed.event);
  const error = `cannot reserve: ${found.problem}`;
  return stopRun(draft, run, found.changed ? 'cancelled' : 'failed:logic', { error, suspects });
}
