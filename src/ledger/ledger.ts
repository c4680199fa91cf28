import {
  assert,
  type Clock,
  keepNewest,
  type MutationId,
  RefusedError,
  type RunId,
  reach,
  type WorkerId,
  type WorkflowId,
} from '#base';
import { type CallError, CallInvalidError, type Connections, type Outcome, type Slot } from '#connector';
import type { Engine } from '#execution';
import type { Call, Mutation, Run } from '#model';
import { type Permits, permitsOf, type WantedCall, whyApproval, whyNoRead } from './approval.ts';
import { refusedCall } from './call-refused.ts';

/** What the ledger row gave back when it was recorded. */
export interface Sent {
  readonly mutation: MutationId;
  readonly idempotencyKey: string;
  readonly deadline: number;
}

/** What the ledger asks of connections; a rehearsal answers in their place. */
export type LedgerConnections = Pick<
  Connections,
  'describeCall' | 'describeRead' | 'ready' | 'admit' | 'admitNow' | 'mutate' | 'read' | 'reconcile' | 'costOf'
>;

export interface LedgerOptions {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'self'>;
  readonly connections: LedgerConnections;
  readonly clock: Clock;
  /** Where there are other processes: told that this one lacks what a call needs, and gives the name of it. */
  readonly onLack?: (() => string) | undefined;
}

/** Which secrets a connection had when somebody looked. */
export interface SeenVersion {
  readonly connection: string;
  readonly version: number;
}

const WORKFLOWS_MAX = 10_000;
const RECONCILE_LEASE_MS = 60_000;
const RECONCILE_TIMEOUT_MS = 30_000;
/** 2 s doubling: with the model's count of tries, about two hours before a person is asked. */
const RECONCILE_MS_MIN = 2_000;

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #sent = new Set<MutationId>();
  /** What the calls of a run cost so far. A run is driven by one process to its end, so memory is enough. */
  readonly #spent = new Map<RunId, number>();
  /** The connection that each workflow changed last: most change the same again. */
  readonly #usual = new Map<WorkflowId, string>();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** What a workflow may do now; for a call that is described soon after. */
  permitsOf(workflow: WorkflowId): Promise<Permits> {
    return permitsOf(this.#options.engine.reader, workflow);
  }

  /** A script's call in the host's words: what will really be sent, and what the model must know of its method. */
  async describe(
    workflow: WorkflowId,
    connection: string,
    method: string,
    params: string,
    title: string | null,
    permits?: Permits,
  ): Promise<Call> {
    try {
      const described = this.#options.connections.describeCall(connection, method, JSON.parse(params));
      return {
        connection,
        method,
        params: JSON.stringify(described.args),
        preview: described.preview,
        title,
        timeoutMs: described.timeoutMs,
        canReconcile: described.canReconcile,
        visibilityMs: described.visibilityMs,
        ...(await this.#approval(
          { workflow, connection, method, target: described.target, rule: described.approval },
          permits,
        )),
      };
    } catch (error) {
      if (!(error instanceof CallInvalidError)) throw error;
      const isOurs = error.code === 'unknown-connection';
      throw refusedCall(this.#orElsewhere({ class: 'logic', message: error.message, isOurs }), connection, 0, error);
    }
  }

  /** To await before the row is recorded: whatever must be there so that the outcome can be looked up afterwards. */
  ready(connection: string, method: string): Promise<void> {
    return this.#options.connections.ready(connection, method);
  }

  /** A place among the calls of a connection; taken before the deadline begins. */
  admit(connection: string): Promise<Slot> {
    return this.#options.connections.admit(connection);
  }

  /** The same for a call that may never be made: undefined where it would have to wait. */
  admitNow(connection: string): Slot | undefined {
    return this.#options.connections.admitNow(connection);
  }

  /**
   * The recorded call, once: this process never sends a row a second time, whatever it is asked. The row is durable; from the
   * first byte on only a definite answer counts.
   */
  async send(call: Pick<Call, 'connection' | 'method' | 'params'>, sent: Sent, slot?: Slot): Promise<Outcome> {
    const { mutation, idempotencyKey, deadline } = sent;
    if (this.#sent.has(mutation))
      return { kind: 'uncertain', message: 'it was sent before, and its answer was lost', callEnded: false };
    this.#sent.add(mutation);
    const args = JSON.parse(call.params) as unknown;
    const outcome = await this.#options.connections.mutate(call.connection, call.method, args, {
      idempotencyKey,
      deadline,
      ...(slot && { slot }),
    });
    return outcome.kind === 'not_done' ? { ...outcome, error: this.#orElsewhere(outcome.error) } : outcome;
  }

  /** What came of it is durable: nobody will ask to send it again. */
  settled(mutation: MutationId): void {
    this.#sent.delete(mutation);
  }

  async read(run: Pick<Run, 'id' | 'workflowId'>, connection: string, method: string, args: unknown): Promise<string> {
    const version = await this.versionOf(connection);
    const why = await this.#mayRead(run.workflowId, connection, method, args);
    if (why !== undefined) throw refusedCall({ class: 'permission', message: why }, connection, version);
    const outcome = await this.#options.connections.read(connection, method, args);
    if (outcome.kind === 'not_done') throw refusedCall(this.#orElsewhere(outcome.error), connection, version);
    this.spend(run.id, connection);
    return JSON.stringify(outcome.result ?? null);
  }

  /** A call that was done, or may have been. */
  spend(run: RunId, connection: string): void {
    this.#spent.set(run, this.spentBy(run) + this.#options.connections.costOf(connection));
  }

  spentBy(run: RunId): number {
    return this.#spent.get(run) ?? 0;
  }

  /** The run has ended, and what it cost is in its row. */
  forget(run: RunId): void {
    this.#spent.delete(run);
  }

  /** Of the connection that a workflow will most likely change, for its next call. */
  async usualVersion(workflow: WorkflowId): Promise<SeenVersion | undefined> {
    const connection = this.#usual.get(workflow);
    return connection === undefined ? undefined : { connection, version: await this.versionOf(connection) };
  }

  /** Of a call that goes out after this: the one that was seen before, if it is of the same connection. It is never newer than what the call carries. */
  async versionFor(workflow: WorkflowId, connection: string, seen: SeenVersion | undefined): Promise<number> {
    keepNewest(this.#usual, workflow, connection, WORKFLOWS_MAX);
    return seen?.connection === connection ? seen.version : this.versionOf(connection);
  }

  /** Of its secrets: a refusal of older ones must not hold anyone. */
  async versionOf(connection: string): Promise<number> {
    return (await this.#options.engine.reader.fetch('connection', connection))[0]?.version ?? 0;
  }

  /** What only this process lacks is no mistake of the script and no refusal of the provider: where there are others, it is tried again. */
  #orElsewhere(error: CallError): CallError {
    const { onLack } = this.#options;
    if (error.isOurs !== true || onLack === undefined) return error;
    return { class: 'transient', message: `worker ${onLack()} could not make the call: ${error.message}` };
  }

  async #approval(
    call: WantedCall,
    permits: Permits | undefined,
  ): Promise<Pick<Call, 'needsApproval' | 'approvalWhy'>> {
    const { engine, clock } = this.#options;
    const why = await whyApproval(engine.reader, clock.now(), call, permits);
    return why === undefined ? { needsApproval: false } : { needsApproval: true, approvalWhy: why };
  }

  /** A read that was not allowed is not made. What is called wrongly is left to the connection to refuse. */
  async #mayRead(workflow: WorkflowId, connection: string, method: string, args: unknown): Promise<string | undefined> {
    const { connections, engine } = this.#options;
    try {
      const { target } = connections.describeRead(connection, method, args);
      return await whyNoRead(engine.reader, { workflow, connection, method, target });
    } catch (error) {
      if (error instanceof CallInvalidError) return undefined;
      throw error;
    }
  }

  /** One look at an unknown outcome that is due. */
  async reconcile(id: MutationId): Promise<void> {
    const { engine } = this.#options;
    if (!(await this.#claim(id, engine.self))) return;
    const [row] = await engine.reader.fetch('mutation', id);
    assert(row, `mutation ${id} is missing`);
    const askedAt = this.#options.clock.now();
    const found = await this.#options.connections.reconcile(row.connection, row.method, recordedCall(row), {
      timeoutMs: RECONCILE_TIMEOUT_MS,
    });
    reach('look-up-answered');
    if (found.kind === 'retry' && found.error?.isOurs === true) this.#options.onLack?.();
    if (found.kind === 'retry') return this.#later(row, found.afterMs);
    const result = found.kind === 'applied' ? JSON.stringify(found.result ?? null) : undefined;
    await this.#record(row, found.kind === 'applied' ? 'success' : 'failure', result, askedAt);
  }

  async #claim(id: MutationId, owner: WorkerId): Promise<boolean> {
    try {
      await this.#options.engine.manager.claimReconcile(id, owner, RECONCILE_LEASE_MS);
      return true;
    } catch (error) {
      if (error instanceof RefusedError) return false;
      throw error;
    }
  }

  /** Too early to say "it did not happen" means: look again when it is not. Somebody else's answer in between stands. */
  async #record(
    row: Mutation,
    outcome: 'success' | 'failure',
    result: string | undefined,
    askedAt: number,
  ): Promise<void> {
    const { engine, clock } = this.#options;
    try {
      const answer = { resolvedBy: 'reconcile', askedAt } as const;
      await engine.manager.updateMutationResult(row.id, outcome, { answer, result });
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.code === 'too-early') return this.#later(row, (error.notBefore ?? 0) - clock.now());
      if (error.code !== 'already-resolved') throw error;
      const says = outcome === 'success' ? 'applied' : 'failed';
      await engine.manager.recordEvidence(row.id, { says, detail: result ?? 'not found', source: 'a look-up' });
    }
  }

  /** Whoever answered meanwhile has made another look needless. */
  async #later(row: Mutation, afterMs: number | undefined): Promise<void> {
    const delayMs = Math.max(afterMs ?? 0, RECONCILE_MS_MIN * 2 ** row.reconcileCount);
    try {
      await this.#options.engine.manager.postponeReconcile(row.id, delayMs);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }
}

function recordedCall(row: Mutation): { args: unknown; idempotencyKey: string; startedAt: number } {
  return { args: JSON.parse(row.params), idempotencyKey: row.idempotencyKey, startedAt: row.createdAt };
}
