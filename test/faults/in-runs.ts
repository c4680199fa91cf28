import type { Fault } from './fault.ts';

const PHASE = 'src/model/decide/update-consumer-phase.ts';
const COMMIT = 'src/model/decide/commit-consumer.ts';
const PRODUCER = 'src/model/decide/commit-producer.ts';
const ADVANCE = 'src/model/decide/advance-session.ts';
const START = 'src/model/decide/start-run.ts';

/** Mistakes in how a run moves forward, commits, and makes place for the next. */
export const RUN_FAULTS: readonly Fault[] = [
  {
    name: 'prepared pins nothing: its events stay pending',
    file: PHASE,
    find: "if (found.events.length > 0) draft.write({ set: 'events.reserved', run: run.id, events: found.events });",
    replace: '',
  },
  {
    name: 'an event that changed since the script saw it is reserved all the same',
    file: PHASE,
    find: 'pendingSeq === event.pendingSeq;',
    replace: 'pendingSeq <= event.pendingSeq;',
  },
  {
    name: 'an event that was there before is taken without its place among those that wait',
    file: PHASE,
    find: 'pendingSeq === undefined ? draft.hasMade(event.id) :',
    replace: 'pendingSeq === undefined ? true :',
  },
  {
    name: 'an event is taken as it is published, though an older one waits',
    file: ADVANCE,
    find: '  if (expected.newIn !== undefined && !draft.wasEmpty(workflow, expected.newIn)) return false;\n',
    replace: '',
  },
  {
    name: 'an event gets another id than the one its script was shown',
    file: 'src/model/rule/publish.ts',
    find: "(publish.shownAs ? draft.takeId(publish.shownAs.event) : draft.newId('event'))",
    replace: "draft.newId('event')",
  },
  {
    name: 'an event that a person skipped between peek and reserve asks for a repair',
    file: PHASE,
    find: 'changed: seen !== undefined,',
    replace: 'changed: false,',
  },
  {
    name: 'a consumer reserves events of topics it does not subscribe to',
    file: PHASE,
    find: 'if (!spec?.subscribe.includes(topic)) return notSubscribed(run, topic);',
    replace: 'if (!spec) return notSubscribed(run, topic);',
  },
  {
    name: 'a run with reservations goes straight to next, without its call',
    file: PHASE,
    find: '  checkReserved(draft, run, command.phase);\n',
    replace: '',
  },
  {
    name: 'a run that made a call moves to mutated without its answer',
    file: PHASE,
    find: '  checkNoCall(draft, run, command.phase);\n',
    replace: '',
  },
  {
    name: 'a phase may be left out',
    file: PHASE,
    find: 'if (isStep<ConsumerPhase>(CONSUMER_PHASE_STEPS, run.phase, to)) return;',
    replace: "if (to !== 'preparing') return;",
  },
  {
    name: 'a wake time far away is believed',
    file: PHASE,
    find: 'now + WAKE_DELAY_MS_MIN), now + WAKE_DELAY_MS_MAX);',
    replace: 'now + WAKE_DELAY_MS_MIN), now + 365 * WAKE_DELAY_MS_MAX);',
  },
  {
    name: 'a wake time that is left out keeps the old one',
    file: PHASE,
    find: '{ wakeAt: clampedWakeAt(draft.now, command.wakeAt) });',
    replace: '{ wakeAt: clampedWakeAt(draft.now, command.wakeAt) ?? kept.wakeAt });',
  },
  {
    name: 'a commit leaves its events reserved',
    file: COMMIT,
    find: 'if (reserved.length > 0) {',
    replace: 'if (reserved.length < 0) {',
  },
  {
    name: 'the commit after a skip marks the events consumed',
    file: COMMIT,
    find: "set: wasSkipped ? 'events.skipped' : 'events.consumed',",
    replace: "set: wasSkipped ? 'events.consumed' : 'events.consumed',",
  },
  {
    name: 'a commit without a state erases the old one',
    file: COMMIT,
    find: 'state: command.state ?? kept.state });',
    replace: 'state: command.state ?? null });',
  },
  {
    name: 'a rest is counted from the commit, not from the start: a wake-up in between is lost',
    file: COMMIT,
    find: 'const restedSeq = rests ? run.startSeq : null;',
    replace: 'const restedSeq = rests ? workflowRow(draft, run.workflowId).eventSeq : null;',
  },
  {
    name: 'a run that reserved nothing does not rest',
    file: COMMIT,
    find: 'const restedSeq = rests ? run.startSeq : null;',
    replace: 'const restedSeq = null;',
  },
  {
    name: 'an empty run of an old version lets the new one rest before it has looked',
    file: COMMIT,
    find: ' && run.scriptId === workflow.activeScriptId;',
    replace: ' && workflow.id === run.workflowId;',
  },
  {
    name: 'a committed run is not counted in its session',
    file: 'src/model/rule/finish-run.ts',
    find: "draft.write({ set: 'session.counted', session: run.scriptRunId, cost });",
    replace: '',
  },
  {
    name: 'a commit does not end the count of troubles',
    file: COMMIT,
    find: 'keep(draft, kept, { ...NO_TROUBLE, restedSeq,',
    replace: 'keep(draft, kept, { restedSeq,',
  },
  {
    name: 'a delivery is handed to its producer again and again',
    file: PRODUCER,
    find: 'if (run.deliveryId !== null) finishDelivery(draft, run.deliveryId, run);',
    replace: 'if (run.deliveryId === undefined) finishDelivery(draft, run.deliveryId, run);',
  },
  {
    name: 'the same outside thing becomes two inputs',
    file: PRODUCER,
    find: 'if (known) return known.id;',
    replace: 'if (known && known.title !== title) return known.id;',
    also: [
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX inputs_key ON',
        replace: 'CREATE INDEX inputs_key ON',
      },
    ],
  },
  {
    name: 'the next tick of a schedule is forgotten',
    file: PRODUCER,
    find: '{ ...NO_TROUBLE, nextAt, state',
    replace: '{ ...NO_TROUBLE, nextAt: null, state',
  },
  {
    name: 'a session goes on after cancel was asked',
    file: ADVANCE,
    find: 'isStartable(workflow) && execution.cancelRequestedAt === null && session',
    replace: 'isStartable(workflow) && execution.id !== undefined && session',
  },
  {
    name: 'a session goes on while its workflow is paused',
    file: ADVANCE,
    find: 'return isStartable(workflow) && ',
    replace: "return (isStartable(workflow) || workflow.status === 'paused') && ",
  },
  {
    name: 'a session never ends while there is work',
    file: ADVANCE,
    find: 'session.handlerRunCount < SESSION_RUNS_MAX;',
    replace: 'session.handlerRunCount < SESSION_RUNS_MAX * 1_000;',
  },
  {
    name: 'a session goes over to a version that was activated meanwhile',
    file: ADVANCE,
    find: 'if (workflow.activeScriptId !== session.scriptId) return undefined;',
    replace: '',
  },
  {
    name: 'a session ends while its run is active',
    file: 'src/model/decide/finish-session.ts',
    find: '  if (!active) return;',
    replace: '  if (!active || active.id !== undefined) return;',
  },
  {
    name: 'a run starts while another one is active',
    file: START,
    find: '  if (active) {\n',
    replace: '  if (active && active.id === undefined) {\n',
    also: [
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX handler_runs_active ON',
        replace: 'CREATE INDEX handler_runs_active ON',
      },
    ],
  },
  {
    name: 'a consumer starts while a retry waits',
    file: START,
    find: 'if (isConsumer && workflow.pendingRetryRunId !== null) {',
    replace: 'if (isConsumer && workflow.pendingRetryRunId === id) {',
  },
];
