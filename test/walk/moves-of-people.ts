import type { EventId, MutationId, RunId, ScriptId, WorkflowId } from '#base';
import type { CommandOf } from '#model';
import { PERSON } from '../support/fixture.ts';
import type { View } from './view.ts';
import { placed, VERSIONS } from './world.ts';

/** Commands of people, and of the few things that act in their place. */

const by = PERSON;
const NO_EVENT = 'evt_none' as EventId;

/** Home; now and then one that does not exist, and no name at all. */
function workflows(view: View): { workflow: WorkflowId; by: string }[] {
  const workflow = view.home.id;
  const wrong = [
    { workflow: 'wf_none' as WorkflowId, by },
    { workflow: '' as WorkflowId, by },
    { workflow, by: ' ' },
  ];
  const rotated = wrong[view.ordinal % 16];
  return rotated ? [{ workflow, by }, rotated] : [{ workflow, by }];
}

/** Every call of home; now and then one that does not exist, and no name at all. */
function mutations(view: View): { mutation: MutationId; by: string }[] {
  const calls: { mutation: MutationId; by: string }[] = view.calls.map((row) => ({ mutation: row.id, by }));
  if (view.ordinal % 16 === 0) calls.push({ mutation: 'mut_none' as MutationId, by });
  const [first] = view.mutations;
  if (view.ordinal % 16 === 1 && first) calls.push({ mutation: first.id, by: '' });
  return calls;
}

/** Each event alone; now and then one of each workflow together, one twice, none, one that does not exist. */
function events(view: View): { events: readonly EventId[]; by: string }[] {
  const lists: { events: readonly EventId[]; by: string }[] = view.events.map((event) => ({ events: [event.id], by }));
  const [first] = view.events;
  if (!first) return [{ events: [NO_EVENT], by }];
  const wrong: (readonly EventId[])[] = [[first.id, view.foreign.event.id], [first.id, first.id], [], [NO_EVENT]];
  const rotated = wrong[view.ordinal % 16];
  return rotated ? [...lists, { events: rotated, by }] : lists;
}

export function createWorkflow(view: View): CommandOf<'createWorkflow'>[] {
  if (view.ordinal % 16 !== 0) return [{ do: 'createWorkflow', name: 'home', by }];
  return [{ do: 'createWorkflow', name: 'another', by }];
}

export function addScript(view: View): CommandOf<'addScript'>[] {
  const [handlers] = VERSIONS;
  if (!handlers) return [];
  const minor = view.ordinal % 16 === 0 ? 9 : 0;
  const code = 'export default {}';
  return [{ do: 'addScript', workflow: view.home.id, major: 1, minor, contentHash: 'hash', code, handlers, by }];
}

/** Every version there is, the neighbour's too. */
export function activateScript(view: View): CommandOf<'activateScript'>[] {
  const workflow = view.home.id;
  const moves: CommandOf<'activateScript'>[] = [];
  const isForeign = view.ordinal % 8 === 0;
  for (const { id: script, workflowId } of view.scripts) {
    if (workflowId !== workflow && !isForeign) continue;
    moves.push({ do: 'activateScript', workflow, script, by });
    moves.push({ do: 'activateScript', workflow, script, by, skipPending: true });
  }
  const { activeScriptId } = view.home;
  if (activeScriptId) moves.push({ do: 'activateScript', workflow, script: activeScriptId, by, grantMissing: true });
  if (activeScriptId)
    moves.push({ do: 'activateScript', workflow, script: activeScriptId, by, schedule: { poll: view.now + 60_000 } });
  if (isForeign) moves.push({ do: 'activateScript', workflow, script: 'scr_none' as ScriptId, by });
  return moves;
}

export function approveGrant(view: View): CommandOf<'approveGrant'>[] {
  return workflows(view).map((act) => ({ do: 'approveGrant', ...act }));
}
export function pauseWorkflow(view: View): CommandOf<'pauseWorkflow'>[] {
  return workflows(view).map((act) => ({ do: 'pauseWorkflow', ...act }));
}
export function resumeWorkflow(view: View): CommandOf<'resumeWorkflow'>[] {
  return workflows(view).map((act) => ({ do: 'resumeWorkflow', ...act }));
}
export function archiveWorkflow(view: View): CommandOf<'archiveWorkflow'>[] {
  return workflows(view).map((act) => ({ do: 'archiveWorkflow', ...act }));
}
export function holdWorkflow(view: View): CommandOf<'holdWorkflow'>[] {
  return workflows(view).map(({ workflow }) => ({ do: 'holdWorkflow', workflow, reason: 'an invariant is broken' }));
}

/** Something new while there is room; the first again as it is, and again as it is not. */
export function publishEvents(view: View): CommandOf<'publishEvents'>[] {
  const workflow = view.home.id;
  const first = view.events.find((event) => event.topic === 'placed');
  const moves: CommandOf<'publishEvents'>[] = [
    { do: 'publishEvents', workflow, publishes: [placed('x', 'elsewhere')], by },
  ];
  if (view.events.length < view.world.limits.events)
    moves.push({ do: 'publishEvents', workflow, publishes: [placed(`more ${view.events.length}`)], by });
  if (!first) return moves;
  const payload = first.payload === '{}' ? '{"changed":1}' : '{}';
  for (const again of [first.payload, payload])
    moves.push({ do: 'publishEvents', workflow, publishes: [{ ...placed(first.messageId), payload: again }], by });
  return moves;
}

/** A new delivery while there is room, a repeated one, one for a hook that is none. */
export function acceptDelivery(view: View): CommandOf<'acceptDelivery'>[] {
  const deliveries = view.rows.deliveries.values();
  const common = { do: 'acceptDelivery', workflow: view.home.id, headers: '{}', body: '{}' } as const;
  const moves: CommandOf<'acceptDelivery'>[] = [{ ...common, hook: 'poll', deliveryId: 'd' }];
  if (deliveries.length < view.world.limits.deliveries)
    moves.push({ ...common, hook: 'hook', deliveryId: `d${deliveries.length}` });
  const [first] = deliveries;
  if (first) moves.push({ ...common, hook: 'hook', deliveryId: first.deliveryId });
  return moves;
}

export function skipEvents(view: View): CommandOf<'skipEvents'>[] {
  return events(view).map((act) => ({ do: 'skipEvents', ...act }));
}
export function skipDelivery(view: View): CommandOf<'skipDelivery'>[] {
  return view.rows.deliveries.values().map(({ id }) => ({ do: 'skipDelivery', delivery: id, by }));
}
export function parkEvents(view: View): CommandOf<'parkEvents'>[] {
  return events(view).map((act) => ({ do: 'parkEvents', ...act }));
}
export function unparkEvents(view: View): CommandOf<'unparkEvents'>[] {
  return events(view).map((act) => ({ do: 'unparkEvents', ...act }));
}
export function redoEvents(view: View): CommandOf<'redoEvents'>[] {
  if (view.events.length >= view.world.limits.events) return [{ do: 'redoEvents', events: [], by }];
  return events(view).map((act) => ({ do: 'redoEvents', ...act }));
}

export function skipMutation(view: View): CommandOf<'skipMutation'>[] {
  return mutations(view).map((act) => ({ do: 'skipMutation', ...act }));
}
export function checkAgain(view: View): CommandOf<'checkAgain'>[] {
  return mutations(view).map((act) => ({ do: 'checkAgain', ...act }));
}
export function setAside(view: View): CommandOf<'setAside'>[] {
  return mutations(view).map((act) => ({ do: 'setAside', ...act }));
}
export function approveCall(view: View): CommandOf<'approveCall'>[] {
  return mutations(view).map((act) => ({ do: 'approveCall', ...act }));
}
export function rejectCall(view: View): CommandOf<'rejectCall'>[] {
  return mutations(view).flatMap((act) =>
    (['skip', 'park'] as const).map((how) => ({ do: 'rejectCall', ...act, how }) as const),
  );
}
export function expireCall(view: View): CommandOf<'expireCall'>[] {
  return mutations(view).map(({ mutation }) => ({ do: 'expireCall', mutation }));
}

/** Every run of home, also those that have nothing to finish. */
export function finishWithoutNext(view: View): CommandOf<'finishWithoutNext'>[] {
  const ids = [...view.lastRuns.map((run) => run.id), ...(view.ordinal % 16 === 0 ? ['run_none' as RunId] : [])];
  return ids.map((run) => ({ do: 'finishWithoutNext', run, by }));
}

export function setHandlerState(view: View): CommandOf<'setHandlerState'>[] {
  const handler = view.ordinal % 16 === 0 ? 'nobody' : 'book';
  return [{ do: 'setHandlerState', workflow: view.home.id, handler, state: '{"mended":1}', by }];
}

export function cureConnection(): CommandOf<'cureConnection'>[] {
  return [{ do: 'cureConnection', connection: 'shop', by }];
}

export function createMaintenanceTask(view: View): CommandOf<'createMaintenanceTask'>[] {
  return workflows(view).map(({ workflow }) => ({ do: 'createMaintenanceTask', workflow }));
}

export function exitMaintenanceMode(view: View): CommandOf<'exitMaintenanceMode'>[] {
  return workflows(view).flatMap((act) =>
    [true, false].map((repaired) => ({ do: 'exitMaintenanceMode', ...act, repaired }) as const),
  );
}
