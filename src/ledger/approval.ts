import type { WorkflowId } from '#base';
import type { ApprovalRule } from '#connector';
import type { Engine } from '#execution';
import { isCovered, notAllowed } from '#permission';

const HOUR = 3_600_000;
/** Approvals that cover more than their call: each is for a time, so that there are never many. */
const ALLOWANCES_MAX = 100;

/** A call that is about to be recorded. */
export interface WantedCall {
  readonly workflow: WorkflowId;
  readonly connection: string;
  readonly method: string;
  readonly target: string;
  readonly rule: ApprovalRule;
}

type Reader = Pick<Engine['reader'], 'fetch' | 'allowances' | 'countCalls' | 'wasApproved'>;

/** What a workflow may do, and when that was read on the steady clock. */
export interface Permits {
  readonly grants: Awaited<ReturnType<typeof grantsOf>>;
  readonly readAt: number;
}

/** About as long as it takes to record a call: whoever takes a permission back in that time was never in time for it. */
export const PERMITS_FRESH_MS = 20;

export async function permitsOf(reader: Reader, workflow: WorkflowId): Promise<Permits> {
  const readAt = performance.now();
  return { grants: await grantsOf(reader, workflow), readAt };
}

function grantsOf(reader: Reader, workflow: WorkflowId) {
  return reader.fetch('grantsOf', workflow);
}

/**
 * Why a person is to be asked before this call is sent; undefined when nobody is. A workflow makes one call at a time, so that
 * nothing it counts here can change before the call is recorded.
 */
export async function whyApproval(
  reader: Reader,
  now: number,
  call: WantedCall,
  known?: Permits,
): Promise<string | undefined> {
  const { workflow, connection, method, target, rule } = call;
  const isFresh = known !== undefined && performance.now() - known.readAt < PERMITS_FRESH_MS;
  const { grants } = isFresh ? known : await permitsOf(reader, workflow);
  const asked = { connection, method, targets: [target] };
  const isWithin = isCovered(grants, asked);
  const cap = grants.find((grant) => grant.connection === connection && grant.method === method)?.capPerHour ?? null;
  // Nearly always: then it does not matter what else was approved before.
  if (isWithin && rule === 'never' && cap === null) return undefined;
  const given = await reader.allowances(workflow, now, ALLOWANCES_MAX);
  if (await isAllowedFor(reader, given, call, isWithin)) return undefined;
  if (!isWithin) return notAllowed(await nameOf(reader, workflow), asked, 'change');
  if (rule === 'always') return `${connection}.${method} waits for a person each time`;
  if (rule === 'first' && !(await reader.wasApproved(workflow, connection, method))) {
    return `it is the first ${connection}.${method} of ${await nameOf(reader, workflow)}`;
  }
  if (cap === null || (await reader.countCalls(workflow, connection, method, now - HOUR, cap)) < cap) return undefined;
  return `${await nameOf(reader, workflow)} has made ${cap.toLocaleString('en')} calls of ${connection}.${method} in the last hour, which is its cap`;
}

/** An approval given before covers this one too. One for any target means any that was allowed. */
async function isAllowedFor(
  reader: Reader,
  given: Awaited<ReturnType<Reader['allowances']>>,
  { workflow, connection, method, target }: WantedCall,
  isWithin: boolean,
): Promise<boolean> {
  const fitting = given
    .filter((each) => each.connection === connection && each.method === method)
    .filter((each) => each.target === target || (each.target === null && isWithin));
  for (const { givenAt, callsMax } of fitting) {
    if ((await reader.countCalls(workflow, connection, method, givenAt, callsMax)) < callsMax) return true;
  }
  return false;
}

/** Why a read is not made; undefined when it may be. */
export async function whyNoRead(
  reader: Reader,
  { workflow, connection, method, target }: Omit<WantedCall, 'rule'>,
): Promise<string | undefined> {
  const asked = { connection, method, targets: [target] };
  if (isCovered(await grantsOf(reader, workflow), asked)) return undefined;
  return notAllowed(await nameOf(reader, workflow), asked, 'read');
}

async function nameOf(reader: Reader, workflow: WorkflowId): Promise<string> {
  return (await reader.fetch('workflow', workflow))[0]?.name ?? workflow;
}
