import type { ExecutionId, MessageId, MutationId, WorkerId } from '#base';
import type { CommandOf, Execution } from '#model';
import { PERSON } from '../support/fixture.ts';
import type { View } from './view.ts';
import { LEASE_MS } from './world.ts';

/** Commands of the executor, of claiming workers, of the reaper, and of whoever looks up unknown outcomes. */

const WRONG_EXECUTION = 'exe_none' as ExecutionId;

/** Executions of home that are not over, the last that is, and one that never was. */
function executionsOf(view: View): Pick<Execution, 'id' | 'epoch' | 'status' | 'owner'>[] {
  const over = view.executions.findLast((row) => row.endedAt !== null);
  const open = view.executions.filter((row) => row.endedAt === null);
  const none = { id: WRONG_EXECUTION, epoch: 0, status: 'requested', owner: null } as const;
  return [...open, ...(over ? [over] : []), ...(view.ordinal % 8 === 0 ? [none] : [])];
}

export function requestExecution(view: View): CommandOf<'requestExecution'>[] {
  const workflow = view.home.id;
  return [
    { do: 'requestExecution', workflow, trigger: 'event' },
    { do: 'requestExecution', workflow, trigger: 'manual', by: PERSON },
    view.ordinal % 2 === 0
      ? { do: 'requestExecution', workflow, trigger: 'manual' }
      : { do: 'requestExecution', workflow: view.neighbour.id, trigger: 'manual', by: PERSON },
  ];
}

export function scheduleDue(view: View): CommandOf<'scheduleDue'>[] {
  return [
    { do: 'scheduleDue', workflow: view.home.id },
    { do: 'scheduleDue', workflow: view.neighbour.id },
  ];
}

export function beginScheduling(view: View): CommandOf<'beginScheduling'>[] {
  return executionsOf(view).map(({ id: execution }) => ({ do: 'beginScheduling', execution }));
}

export function setLimit(view: View): CommandOf<'setLimit'>[] {
  return [{ do: 'setLimit', limit: 'pool:home', slotsMax: view.ordinal % 2 === 0 ? 1 : null }];
}

export function handOff(view: View): CommandOf<'handOff'>[] {
  return executionsOf(view).map(({ id: execution }) => ({ do: 'handOff', execution }));
}

export function sweepScheduling(view: View): CommandOf<'sweepScheduling'>[] {
  return executionsOf(view).map(({ id: execution }) => ({ do: 'sweepScheduling', execution }));
}

export function claimExecution(view: View): CommandOf<'claimExecution'>[] {
  return executionsOf(view).flatMap(({ id: execution, epoch }) => [
    ...view.living.map((owner) => ({ do: 'claimExecution', execution, epoch, owner }) as const),
    { do: 'claimExecution', execution, epoch: epoch - 1, owner: view.foreign.fence.owner } as const,
    { do: 'claimExecution', execution, epoch, owner: 'wrk_nobody' as WorkerId } as const,
  ]);
}

export function cancelExecution(view: View): CommandOf<'cancelExecution'>[] {
  return executionsOf(view).map(({ id: execution }) => ({ do: 'cancelExecution', execution, by: PERSON }));
}

/** Nobody is proven dead who lives. */
export function reapExecution(view: View): CommandOf<'reapExecution'>[] {
  return executionsOf(view).flatMap(({ id: execution, epoch, owner }) => {
    const moves: CommandOf<'reapExecution'>[] = [
      { do: 'reapExecution', execution, epoch, provenDead: false },
      { do: 'reapExecution', execution, epoch, provenDead: false, timeoutMs: 1 },
      { do: 'reapExecution', execution, epoch: epoch + 1, provenDead: false },
    ];
    if (owner === null || view.state.truth.dead.has(owner))
      moves.push({ do: 'reapExecution', execution, epoch, provenDead: true });
    return moves;
  });
}

export function registerWorker(view: View): CommandOf<'registerWorker'>[] {
  const options = { name: 'another', pool: 'pool', leaseMs: LEASE_MS };
  const moves: CommandOf<'registerWorker'>[] = view.living
    .slice(0, 1)
    .map((worker) => ({ do: 'registerWorker', worker, ...options }));
  if (view.workers.length < view.world.limits.workers)
    moves.push({ do: 'registerWorker', worker: `wrk_more${view.workers.length}` as WorkerId, ...options });
  return moves;
}

export function renewWorker(view: View): CommandOf<'renewWorker'>[] {
  const nobody = 'wrk_nobody' as WorkerId;
  return [...view.living, nobody].map((worker) => ({ do: 'renewWorker', worker, leaseMs: LEASE_MS }));
}

export function noteLacks(view: View): CommandOf<'noteLacks'>[] {
  const lacks = [{ workflow: 'orders', connection: 'shop', why: 'has no connection "shop" in its config' }];
  return view.living.slice(0, 1).map((worker) => ({ do: 'noteLacks', worker, lacks }));
}

export function cordonWorker(view: View): CommandOf<'cordonWorker'>[] {
  return view.living.slice(0, 1).map((worker) => ({ do: 'cordonWorker', worker, by: PERSON }));
}

export function uncordonWorker(view: View): CommandOf<'uncordonWorker'>[] {
  return view.living.slice(0, 1).map((worker) => ({ do: 'uncordonWorker', worker, by: PERSON }));
}

export function drainWorker(view: View): CommandOf<'drainWorker'>[] {
  return view.living.slice(0, 1).map((worker) => ({ do: 'drainWorker', worker, by: PERSON }));
}

export function beginDraining(view: View): CommandOf<'beginDraining'>[] {
  return view.living.slice(0, 1).map((worker) => ({ do: 'beginDraining', worker }));
}

export function endWorker(view: View): CommandOf<'endWorker'>[] {
  return view.living.flatMap((worker) => [
    { do: 'endWorker', worker },
    { do: 'endWorker', worker, silentMs: LEASE_MS },
  ]);
}

export function deleteMessage(view: View): CommandOf<'deleteMessage'>[] {
  const last = view.rows.messages.values().at(-1)?.id;
  return [last ?? ('msg_none' as MessageId)].map((message) => ({ do: 'deleteMessage', message }));
}

function mutationsOf(view: View): MutationId[] {
  const none = 'mut_none' as MutationId;
  return [...view.calls.map((row) => row.id), ...(view.ordinal % 8 === 0 ? [none] : [])];
}

export function claimReconcile(view: View): CommandOf<'claimReconcile'>[] {
  const nobody = 'wrk_nobody' as WorkerId;
  const owners = [...view.living.slice(0, 1), ...(view.ordinal % 4 === 0 ? [nobody] : [])];
  return mutationsOf(view).flatMap((mutation) =>
    owners.map((owner) => ({ do: 'claimReconcile', mutation, owner, leaseMs: LEASE_MS }) as const),
  );
}

export function postponeReconcile(view: View): CommandOf<'postponeReconcile'>[] {
  return mutationsOf(view).map((mutation) => ({ do: 'postponeReconcile', mutation, delayMs: 10_000 }));
}

/** Evidence is what a late answer said, so it is true. */
export function recordEvidence(view: View): CommandOf<'recordEvidence'>[] {
  return mutationsOf(view).map((mutation) => {
    const says = view.state.truth.landed.has(mutation) ? 'applied' : 'failed';
    return { do: 'recordEvidence', mutation, says, detail: 'late answer', source: 'worker' };
  });
}
