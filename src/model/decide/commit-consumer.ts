import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { STATE_CHARS_MAX } from '../limits.ts';
import { consumerSpec, fencedRun, mustBeActive, mustBeConsumer, scriptRow, workflowRow } from '../rule/find.ts';
import { commitRun } from '../rule/finish-run.ts';
import { keep, keptState, NO_TROUBLE } from '../rule/keep.ts';
import { causesOf, publishAll } from '../rule/publish.ts';
import { checkCost, checkJson, refuse } from '../rule/refusal.ts';

/** The end of a consumer run: its events are consumed, what `next` published and returned lands, all or nothing. */
export function commitConsumer(draft: Draft, command: CommandOf<'commitConsumer'>): ReplyTo<'commitConsumer'> {
  const run = mustBeConsumer(fencedRun(draft, command.fence, command.run).run);
  mustBeActive(run, 'committed');
  if (run.phase !== 'emitting') {
    refuse('wrong-phase', `run ${run.id} is ${run.phase}, so it cannot be committed`, 'a run commits from emitting', {
      next: ['move it to emitting first'],
      ids: { run: run.id },
    });
  }
  if (command.state !== undefined) checkJson('the state', command.state, STATE_CHARS_MAX);
  checkCost(command.cost);
  const spec = consumerSpec(scriptRow(draft, run.scriptId), run.handlerName);
  assert(spec, `run ${run.id} has no consumer`);
  const workflow = workflowRow(draft, run.workflowId);
  const reserved = draft.find('reserved', run.id);
  const publishes = command.publishes ?? [];
  const causes = publishes.length > 0 ? causesOf(draft, reserved) : [];
  const published = publishAll(draft, {
    workflow,
    publishes,
    topics: spec.publishes,
    publisher: `consumer ${spec.name}`,
    run: run.id,
    messageIdAt: (position) => `${run.rootRunId}:${position}`,
    causes: () => causes,
  });
  if (reserved.length > 0) {
    const wasSkipped = run.mutationOutcome === 'skipped';
    draft.write({ set: wasSkipped ? 'events.skipped' : 'events.consumed', run: run.id, count: reserved.length });
  }
  const kept = keptState(draft, run.workflowId, run.handlerName);
  // A run that reserved nothing rests until something becomes pending after its own start; so nothing slips in between.
  // A version that took over meanwhile has not looked yet.
  const rests = reserved.length === 0 && run.scriptId === workflow.activeScriptId;
  const restedSeq = rests ? run.startSeq : null;
  keep(draft, kept, { ...NO_TROUBLE, restedSeq, state: command.state ?? kept.state });
  commitRun(draft, run, command);
  return { published };
}
