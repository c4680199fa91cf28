import type { MutationId, RunId, WorkflowId } from '#base';
import type { Write } from '#model';
import { Histogram } from './histogram.ts';
import { counter, type Metric } from './metrics-text.ts';
import { OTHER, Recent, Tally } from './tally.ts';

export { LABELS_MAX, OTHER } from './tally.ts';

/** Runs and calls whose workflow or connection is remembered: far more than are under way at once. */
const REMEMBERED_MAX = 1_000;
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const UNITS = [1, 2, 4, 8, 16, 32, 64];

/** Counts what is committed as it is committed: nobody has to read it again to know how much there was. */
export class Meters {
  readonly #workflowOf = new Recent<RunId, WorkflowId>(REMEMBERED_MAX);
  readonly #connectionOf = new Recent<MutationId, string>(REMEMBERED_MAX);
  readonly #accepted = new Tally();
  readonly #settled = new Tally();
  readonly #runs = new Tally();
  readonly #sessions = new Tally();
  readonly #calls = new Tally();
  readonly #notices = new Tally();
  readonly #commitSeconds = new Histogram(SECONDS);
  readonly #commitUnits = new Histogram(UNITS);

  /** One transaction of so many commands, made durable in so long. */
  committed(units: number, ms: number): void {
    this.#commitSeconds.observe(ms / 1_000);
    this.#commitUnits.observe(units);
  }

  /** What one command wrote. */
  wrote(writes: readonly Write[]): void {
    const named = writes.find((write) => 'workflow' in write);
    const workflow = named && 'workflow' in named ? named.workflow : OTHER;
    for (const write of writes) this.#count(write, workflow);
    this.#countSession(writes, workflow);
  }

  /** Workflows are known here by their ids; `nameOf` says what people call them. */
  metrics(nameOf: (workflow: string) => string): readonly Metric[] {
    const byWorkflow = (tally: Tally, label?: string) =>
      [...tally.entries()].map(([about, what, value]) => ({
        labels: { workflow: nameOf(about), ...(label !== undefined && { [label]: what }) },
        value,
      }));
    const calls = [...this.#calls.entries()].map(([connection, outcome, value]) => ({
      labels: { connection, outcome },
      value,
    }));
    const notices = [...this.#notices.entries()].map(([, outcome, value]) => ({ labels: { outcome }, value }));
    return [
      counter('pawl_events_accepted_total', 'Events published', byWorkflow(this.#accepted)),
      counter('pawl_events_settled_total', 'Events consumed or skipped', byWorkflow(this.#settled, 'outcome')),
      counter('pawl_runs_total', 'Runs that ended, by how', byWorkflow(this.#runs, 'status')),
      counter('pawl_sessions_total', 'Sessions that ended, by how', byWorkflow(this.#sessions, 'outcome')),
      counter('pawl_calls_total', 'Calls to the outside, sent and by what came of them', calls),
      counter('pawl_notice_tries_total', 'Notices to people, by what came of the try', notices),
      this.#commitSeconds.metric('pawl_commit_seconds', 'How long a transaction took to become durable'),
      this.#commitUnits.metric('pawl_commit_commands', 'Commands that shared a transaction'),
    ];
  }

  /** Workflows that have been counted, by their ids. */
  workflows(): readonly string[] {
    return [this.#accepted, this.#settled, this.#runs, this.#sessions].flatMap((tally) =>
      [...tally.entries()].map(([about]) => about),
    );
  }

  /** By the word of its execution, which the session itself does not have; an execution that nobody took had none. */
  #countSession(writes: readonly Write[], named: string): void {
    const ended = writes.find((write) => write.set === 'execution.ended');
    if (ended?.from !== 'running') return;
    const told = writes.find((write) => write.set === 'message.sent');
    this.#sessions.add(told?.row.workflowId ?? named, ended.to);
  }

  #count(write: Write, named: string): void {
    switch (write.set) {
      case 'run.created':
        this.#workflowOf.set(write.row.id, write.row.workflowId);
        return;
      case 'mutation.recorded':
        this.#connectionOf.set(write.row.id, write.row.connection);
        if (write.row.status === 'in_flight') this.#calls.add(write.row.connection, 'sent');
        return;
      case 'event.published':
        this.#accepted.add(write.row.workflowId, '');
        return;
      case 'event.skipped':
        this.#settled.add(named, 'skipped');
        return;
      case 'events.consumed':
        this.#settled.add(this.#workflowOf.get(write.run) ?? named, 'consumed', write.count);
        return;
      case 'events.skipped':
        this.#settled.add(this.#workflowOf.get(write.run) ?? named, 'skipped', write.count);
        return;
      case 'run.committed':
      case 'run.finished':
        this.#runs.add(this.#workflowOf.get(write.run) ?? named, 'committed');
        return;
      case 'run.stopped':
        this.#runs.add(this.#workflowOf.get(write.run) ?? named, write.status);
        return;
      case 'mutation.sent':
        this.#calls.add(this.#connectionOf.get(write.mutation) ?? OTHER, 'sent');
        return;
      case 'mutation.applied':
        this.#calls.add(this.#connectionOf.get(write.mutation) ?? OTHER, 'applied');
        return;
      case 'mutation.failed':
        this.#calls.add(this.#connectionOf.get(write.mutation) ?? OTHER, 'failed');
        return;
      case 'mutation.unknown':
        if (write.from === 'in_flight') this.#calls.add(this.#connectionOf.get(write.mutation) ?? OTHER, 'unknown');
        return;
      case 'notice.tried':
        this.#notices.add('', write.to === 'due' ? 'failed' : write.to);
    }
  }
}
