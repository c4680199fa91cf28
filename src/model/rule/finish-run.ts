import type { CommandOf } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Run } from '../rows.ts';
import { sessionRow } from './find.ts';
import { keep, keptState, NO_TROUBLE } from './keep.ts';
import { unpoint } from './settle.ts';

/** An active run ends as it should: what it returned is kept with it, and it counts in its session. */
export function commitRun(
  draft: Draft,
  run: Run,
  { state, cost = 0 }: Pick<CommandOf<'commitConsumer' | 'commitProducer'>, 'state' | 'cost'>,
): void {
  const from = run.handlerType === 'consumer' ? 'emitting' : 'executing';
  draft.write({ set: 'run.committed', run: run.id, from, outputState: state ?? null, cost, at: draft.now });
  draft.write({ set: 'session.counted', session: run.scriptRunId, cost });
}

/** A stopped run is committed as it stands; it counts in its own session, whose result stays failed. */
export function finishRun(draft: Draft, run: Run, events: 'consumed' | 'skipped'): void {
  const count = draft.find('reserved', run.id).length;
  if (count > 0) draft.write({ set: `events.${events}`, run: run.id, count });
  draft.write({ set: 'run.finished', run: run.id, from: run.phase, status: run.status, at: draft.now });
  draft.write({ set: 'session.counted', session: sessionRow(draft, run.scriptRunId).id, cost: 0 });
  unpoint(draft, run, draft.one('ledger', run.rootRunId));
  keep(draft, keptState(draft, run.workflowId, run.handlerName), NO_TROUBLE);
}
