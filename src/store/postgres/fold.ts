import type { RunId } from '#base';
import type { Write, WriteOf } from '#model';

/**
 * Steps of a run that one unit takes, as one write. A row that changes again in its own transaction costs far more than the first
 * time: the server looks up everything it refers to once more, because what it had looked up was for a version that is gone.
 */
export type Folded =
  /** preparing → prepared → mutating. */
  | { readonly set: 'run.sending'; readonly run: RunId; readonly prepareResult: string }
  /** mutating → mutated → emitting → committed. */
  | {
      readonly set: 'run.done';
      readonly run: RunId;
      readonly outputState: string | null;
      readonly cost: number;
      readonly at: number;
    };

/** The guard lets a row take these steps at once where it shows what each of them leaves behind. */
export const FOLDED_STATEMENTS: { readonly [S in Folded['set']]: { readonly sql: string } } = {
  'run.sending': {
    sql: `UPDATE handler_runs SET phase = 'mutating', prepare_result = :prepareResult
      WHERE id = :run AND phase = 'preparing' AND status = 'active'`,
  },
  'run.done': {
    sql: `UPDATE handler_runs SET phase = 'committed', status = 'committed', mutation_outcome = 'success',
        output_state = :outputState, cost = :cost, end_timestamp = :at
      WHERE id = :run AND phase = 'mutating' AND status = 'active'`,
  },
};

/** What is written, and the writes of the unit that it stands for. */
export interface Folding {
  readonly write: Write | Folded;
  readonly writes: readonly Write[];
}

export function unfolded(writes: readonly Write[]): readonly Folding[] {
  return writes.map((write) => ({ write, writes: [write] }));
}

/** Nothing else in a unit depends on when its run takes these steps: all are taken where the last of them was. */
export function folded(writes: readonly Write[]): readonly Folding[] {
  const steps = Map.groupBy(writes.filter(isStepOfRun), ({ run }) => run);
  const begun = new Set<RunId>();
  return writes.flatMap((write): Folding[] => {
    const sent = write.set === 'run.created' ? begunSending(write, steps.get(write.row.id) ?? []) : undefined;
    if (sent !== undefined) {
      begun.add(sent.write.row.id);
      return [sent];
    }
    if (isStepOfRun(write) && begun.has(write.run)) return [];
    const ofRun = isStepOfRun(write) ? (steps.get(write.run) ?? []) : [];
    const together = sending(ofRun) ?? done(ofRun);
    if (together === undefined) return [{ write, writes: [write] }];
    return write === ofRun.at(-1) ? [{ write: together, writes: ofRun }] : [];
  });
}

/** A run that is made and takes its first steps in one unit is written as it is after them: others may refer to it from there on. */
function begunSending(created: WriteOf<'run.created'>, ofRun: readonly StepOfRun[]) {
  const { row } = created;
  const together = sending(ofRun);
  if (row.handlerType !== 'consumer' || together?.set !== 'run.sending') return undefined;
  const { prepareResult } = together;
  const write = { set: 'run.created', row: { ...row, phase: 'mutating', prepareResult } } as const;
  return { write, writes: [created, ...ofRun] };
}

type StepOfRun = WriteOf<
  'run.prepared' | 'run.phase' | 'run.mutated' | 'run.committed' | 'run.outcome' | 'run.stopped'
>;

function isStepOfRun(write: Write): write is StepOfRun {
  return write.set.startsWith('run.') && 'run' in write;
}

function sending([first, second, ...more]: readonly Write[]): Folded | undefined {
  if (first?.set !== 'run.prepared' || second?.set !== 'run.phase' || more.length > 0) return undefined;
  const { run, prepareResult } = first;
  return prepareResult !== null && second.to === 'mutating' ? { set: 'run.sending', run, prepareResult } : undefined;
}

function done([first, second, third, ...more]: readonly Write[]): Folded | undefined {
  if (first?.set !== 'run.mutated' || second?.set !== 'run.phase' || third?.set !== 'run.committed') return undefined;
  const { run, outputState, cost, at } = third;
  return more.length === 0 ? { set: 'run.done', run, outputState, cost, at } : undefined;
}
