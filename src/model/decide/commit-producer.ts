import { assert, type DeliveryId, type InputId } from '#base';
import type { CommandOf, RegisteredInput, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX, PUBLISHES_MAX, STATE_CHARS_MAX } from '../limits.ts';
import type { ProducerRun, Run, Workflow } from '../rows.ts';
import { fencedRun, mustBeActive, scriptRow, workflowRow } from '../rule/find.ts';
import { commitRun } from '../rule/finish-run.ts';
import { keep, keptState, NO_TROUBLE } from '../rule/keep.ts';
import { publishAll } from '../rule/publish.ts';
import { checkCost, checkJson, checkKey, checkText, checkWhole, refuse } from '../rule/refusal.ts';

/** The end of a producer run: inputs, events, state and the next tick land together; a delivery is done with its run. */
export function commitProducer(draft: Draft, command: CommandOf<'commitProducer'>): ReplyTo<'commitProducer'> {
  const run = mustBeProducer(fencedRun(draft, command.fence, command.run).run);
  mustBeActive(run, 'committed');
  if (command.state !== undefined) checkJson('the state', command.state, STATE_CHARS_MAX);
  if (command.nextAt != null) checkWhole('the next time', command.nextAt);
  checkCost(command.cost);
  const spec = scriptRow(draft, run.scriptId).handlers.producers.find((producer) => producer.name === run.handlerName);
  assert(spec, `run ${run.id} has no producer`);
  const inputs = register(draft, run, command.inputs ?? []);
  const workflow = workflowRow(draft, run.workflowId);
  const published = publishAll(draft, {
    workflow,
    publishes: command.publishes ?? [],
    topics: spec.publishes,
    publisher: `producer ${spec.name}`,
    run: run.id,
    messageIdAt: (position) => `${run.rootRunId}:${position}`,
    causes: ({ input }) => (input === undefined ? [] : [inputAt(inputs, input)]),
  });
  if (run.deliveryId !== null) finishDelivery(draft, run.deliveryId, run);
  const kept = keptState(draft, run.workflowId, run.handlerName);
  const nextAt = setsSchedule(workflow, run, command) ? (command.nextAt ?? null) : kept.nextAt;
  keep(draft, kept, { ...NO_TROUBLE, nextAt, state: command.state ?? kept.state });
  commitRun(draft, run, command);
  return { published };
}

/** A webhook's call need not know its producer's schedule, and a version that was replaced no longer has one to set. */
function setsSchedule(workflow: Workflow, run: ProducerRun, command: CommandOf<'commitProducer'>): boolean {
  if (run.scriptId !== workflow.activeScriptId) return false;
  return run.deliveryId === null || command.nextAt !== undefined;
}

function finishDelivery(draft: Draft, id: DeliveryId, run: ProducerRun): void {
  const delivery = draft.one('delivery', id);
  assert(delivery, `delivery ${id} is missing`);
  draft.write({ set: 'delivery.done', delivery: delivery.id, run: run.id });
}

function mustBeProducer(run: Run): ProducerRun {
  if (run.handlerType === 'producer') return run;
  return refuse(
    'wrong-state',
    `run ${run.id} is of consumer ${run.handlerName}`,
    'a consumer commits through its phases',
    {
      next: ['commit it with commitConsumer'],
      ids: { run: run.id },
    },
  );
}

/** The same external thing is one input, however often it is seen. */
function register(draft: Draft, run: ProducerRun, inputs: readonly RegisteredInput[]): InputId[] {
  if (inputs.length > PUBLISHES_MAX) {
    refuse(
      'invalid',
      `producer ${run.handlerName} registers ${inputs.length} inputs at once`,
      `at most ${PUBLISHES_MAX} fit in one run`,
      { next: ['register the rest in the next run'] },
    );
  }
  return inputs.map(({ source, type, id: externalId, title }) => {
    for (const [what, text] of Object.entries({ source, type, id: externalId })) {
      checkKey(`the ${what} of an input`, text, NAME_CHARS_MAX);
    }
    checkText('the title of an input', title, NAME_CHARS_MAX);
    const known = draft.one('inputKeyed', run.workflowId, source, type, externalId);
    if (known) return known.id;
    const id = draft.newId('input');
    draft.write({
      set: 'input.registered',
      row: { id, workflowId: run.workflowId, source, type, externalId, title, createdAt: draft.now },
    });
    return id;
  });
}

function inputAt(inputs: readonly InputId[], position: number): InputId {
  return (
    inputs[position] ??
    refuse('invalid', `there is no input at position ${position}`, `the run registered ${inputs.length}`, {
      next: ['name one of them, counting from 0'],
    })
  );
}
