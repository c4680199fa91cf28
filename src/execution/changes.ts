import type { WorkflowId } from '#base';
import type { Write, WriteName, WriteOf } from '#model';

/** Something of this kind, with this id, is not as it was. Keys only: whoever wants to know more reads. */
export interface Change {
  readonly kind:
    | 'workflow'
    | 'execution'
    | 'session'
    | 'run'
    | 'event'
    | 'input'
    | 'mutation'
    | 'connection'
    | 'task'
    | 'worker'
    | 'audit'
    | 'token'
    | 'secret'
    | 'notice';
  readonly id: string;
}

/** Each once. */
export class ChangeSet {
  readonly #all: Change[] = [];
  readonly #ids = new Map<Change['kind'], Set<string>>();

  get all(): readonly Change[] {
    return this.#all;
  }

  add(change: Change): void {
    const ids = this.#ids.get(change.kind);
    if (ids?.has(change.id)) return;
    if (ids === undefined) this.#ids.set(change.kind, new Set([change.id]));
    else ids.add(change.id);
    this.#all.push(change);
  }
}

type Listener = (changes: readonly Change[]) => void;

/** Workflows whose next moment has changed, and to when; undefined where only a look can tell what there is to do. */
export type NewlyDue = readonly { readonly workflow: WorkflowId; readonly at: number | null }[] | undefined;

type DueListener = (due: NewlyDue) => void;

/** Writes after which something may have to be done at another time than before. */
const DUE: ReadonlySet<WriteName> = new Set<WriteName>([
  'workflow.due',
  'slot.freed',
  'workflow.maintenance',
  'mutation.unknown',
  'mutation.reconcilePostponed',
]);

/** Tells listeners what each commit changed, after it is durable and never before; those of other processes as they call. */
export class ChangeFeed {
  readonly #listeners = new Set<Listener>();
  readonly #dueListeners = new Set<DueListener>();
  readonly #own = new Set<Listener>();
  readonly #ownDue = new Set<() => void>();

  /** Told of every write of this process itself, for whoever counts; it must not throw, and must be quick. */
  onWrites: ((writes: readonly Write[]) => void) | undefined;

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Told when work may have become due, or due at another time: far less often than something changes. */
  listenDue(listener: DueListener): () => void {
    this.#dueListeners.add(listener);
    return () => this.#dueListeners.delete(listener);
  }

  /** Only what this process commits. */
  listenOwn(listener: Listener): () => void {
    this.#own.add(listener);
    return () => this.#own.delete(listener);
  }

  listenOwnDue(listener: () => void): () => void {
    this.#ownDue.add(listener);
    return () => this.#ownDue.delete(listener);
  }

  tell(writes: readonly Write[]): void {
    this.onWrites?.(writes);
    const times = writes.filter(isAboutTime);
    if (times.length > 0) {
      const due = times.every(isDueOfWorkflow) ? times.map(({ workflow, at }) => ({ workflow, at })) : undefined;
      for (const listener of [...this.#ownDue, ...this.#dueListeners]) listener(due);
    }
    if (this.#listeners.size + this.#own.size === 0) return;
    const changes = changesOf(writes);
    if (changes.length === 0) return;
    for (const listener of [...this.#own, ...this.#listeners]) listener(changes);
  }

  /** What another process says that it changed. */
  tellOf(changes: readonly Change[], isDue: boolean): void {
    if (isDue) for (const listener of this.#dueListeners) listener(undefined);
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes);
  }

  /** Something was not heard: whoever has work looks for it. */
  tellMissed(): void {
    this.tellOf([], true);
  }
}

/** A call that waits for approval expires some day. */
function isAboutTime(write: Write): boolean {
  return DUE.has(write.set) || (write.set === 'mutation.recorded' && write.row.status === 'pending');
}

function isDueOfWorkflow(write: Write): write is WriteOf<'workflow.due'> {
  return write.set === 'workflow.due';
}

function changesOf(writes: readonly Write[]): readonly Change[] {
  const changes = new ChangeSet();
  for (const write of writes) {
    const change = changeOf(write);
    if (change) changes.add(change);
  }
  return changes.all;
}

function changeOf(write: Write): Change | undefined {
  if ('workflow' in write) return { kind: 'workflow', id: write.workflow };
  if ('execution' in write) return { kind: 'execution', id: write.execution };
  if ('session' in write) return { kind: 'session', id: write.session };
  if ('run' in write) return { kind: 'run', id: write.run };
  if ('event' in write) return { kind: 'event', id: write.event };
  if ('mutation' in write) return { kind: 'mutation', id: write.mutation };
  if ('task' in write) return { kind: 'task', id: write.task };
  // A sign of life is no news: every process would call every few seconds, for ever.
  if (write.set === 'worker.renewed') return undefined;
  if ('worker' in write) return { kind: 'worker', id: write.worker };
  return changeOfRow(write);
}

function changeOfRow(write: Write): Change | undefined {
  switch (write.set) {
    case 'workflow.created':
      return { kind: 'workflow', id: write.row.id };
    case 'script.added':
      return { kind: 'workflow', id: write.row.workflowId };
    case 'execution.requested':
      return { kind: 'execution', id: write.row.id };
    case 'session.created':
      return { kind: 'session', id: write.row.id };
    case 'run.created':
      return { kind: 'run', id: write.row.id };
    case 'event.published':
      return { kind: 'event', id: write.row.id };
    case 'delivery.accepted':
      return { kind: 'workflow', id: write.row.workflowId };
    case 'input.registered':
      return { kind: 'input', id: write.row.id };
    case 'mutation.recorded':
      return { kind: 'mutation', id: write.row.id };
    case 'evidence.recorded':
      return { kind: 'mutation', id: write.row.mutationId };
    case 'task.opened':
      return { kind: 'task', id: write.row.id };
    case 'worker.registered':
      return { kind: 'worker', id: write.row.id };
    case 'connection.created':
      return { kind: 'connection', id: write.row.name };
    case 'connection.changed':
      return { kind: 'connection', id: write.name };
    case 'events.transferred':
      return { kind: 'run', id: write.to };
    case 'grant.given':
    case 'allowance.given':
    case 'permission.asked':
      return { kind: 'workflow', id: write.row.workflowId };
    case 'token.created':
      return { kind: 'token', id: write.row.id };
    case 'token.revoked':
      return { kind: 'token', id: write.token };
    case 'secret.created':
      return { kind: 'secret', id: write.row.name };
    case 'secret.changed':
      return { kind: 'secret', id: write.name };
    case 'notice.opened':
      return { kind: 'notice', id: write.row.id };
    case 'notice.tried':
      return { kind: 'notice', id: write.notice };
    case 'audit.appended':
      return { kind: 'audit', id: write.subject };
    default:
      return undefined;
  }
}
