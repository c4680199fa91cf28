import type { Fence } from '#model';
import type { ExecutionModelManager } from './manager.ts';

/** What each part of the engine may do, and nothing else. The manager stays in the composition root; the rooms get ports. */

type Methods = ExecutionModelManager;
type WithoutFirst<F> = F extends (first: never, ...rest: infer R) => infer T ? (...rest: R) => T : never;

const EXECUTOR = [
  'requestExecution',
  'scheduleDue',
  'beginScheduling',
  'setLimit',
  'handOff',
  'sweepScheduling',
  'acceptDelivery',
  'expireCall',
  'deleteMessage',
] as const;
export type ExecutorPort = Pick<Methods, (typeof EXECUTOR)[number]>;

const WORKER = [
  'startRun',
  'advanceSession',
  'createRetryRun',
  'updateConsumerPhase',
  'startMutation',
  'updateHandlerRunStatus',
  'commitConsumer',
  'commitProducer',
  'finishSession',
] as const;
/** Bound to one execution at one epoch: the fence is in every call, whether its caller thinks of it or not. */
export type WorkerPort = { readonly [M in (typeof WORKER)[number]]: WithoutFirst<Methods[M]> };

const OPERATOR = [
  'createWorkflow',
  'addScript',
  'activateScript',
  'approveGrant',
  'pauseWorkflow',
  'resumeWorkflow',
  'archiveWorkflow',
  'publishEvents',
  'skipEvents',
  'skipDelivery',
  'parkEvents',
  'unparkEvents',
  'redoEvents',
  'skipMutation',
  'checkAgain',
  'setAside',
  'approveCall',
  'rejectCall',
  'finishWithoutNext',
  'setHandlerState',
  'cureConnection',
  'cancelExecution',
  'exitMaintenanceMode',
  'updateMutationResult',
  'createToken',
  'revokeToken',
  'setSecret',
  'removeSecret',
  'giveGrants',
  'takeGrant',
  'askPermission',
  'answerPermission',
  'recordAct',
  'cordonWorker',
  'uncordonWorker',
  'drainWorker',
] as const;
export type OperatorPort = Pick<Methods, (typeof OPERATOR)[number]>;

export function executorPort(manager: ExecutionModelManager): ExecutorPort {
  return pick(manager, EXECUTOR);
}

export function operatorPort(manager: ExecutionModelManager): OperatorPort {
  return pick(manager, OPERATOR);
}

export function workerPort(manager: ExecutionModelManager, fence: Fence): WorkerPort {
  const bound = WORKER.map((name) => [name, (manager[name] as (...args: unknown[]) => unknown).bind(manager, fence)]);
  return Object.freeze(Object.fromEntries(bound)) as WorkerPort;
}

function pick<N extends keyof Methods>(manager: Methods, names: readonly N[]): Pick<Methods, N> {
  const bound = names.map((name) => [name, (manager[name] as (...args: unknown[]) => unknown).bind(manager)]);
  return Object.freeze(Object.fromEntries(bound)) as Pick<Methods, N>;
}
