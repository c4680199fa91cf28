import type { CrashPoint, Did } from './crash.ts';
import type { PlaceName } from './moments.ts';

/** One line of the matrix: crash points of one handler at the same place that came to the same. */
export interface MatrixRow {
  readonly handler: string | null;
  readonly place: PlaceName;
  readonly when: string;
  readonly did: Did;
  readonly words: string;
  readonly count: number;
  readonly isSound: boolean;
  readonly problems: readonly string[];
}

export function matrixOf(points: readonly CrashPoint[]): MatrixRow[] {
  const rows = new Map<string, CrashPoint[]>();
  for (const point of points) {
    const key = JSON.stringify([point.handler, point.place, point.did, point.connection, point.problems]);
    rows.set(key, [...(rows.get(key) ?? []), point]);
  }
  return [...rows.values()].flatMap((same): MatrixRow[] => {
    const [first] = same;
    if (!first) return [];
    const { handler, place, did, problems } = first;
    const isSound = problems.length === 0;
    return [{ handler, place, when: whenOf(first), did, words: wordsOf(first), count: same.length, isSound, problems }];
  });
}

function whenOf({ place, hasNext }: CrashPoint): string {
  const last = hasNext ? 'next has not committed' : 'it has not committed';
  switch (place) {
    case 'between runs':
      return 'between two runs';
    case 'producing':
      return 'while it runs';
    case 'before the call':
      return 'before its call is recorded';
    case 'call recorded':
      return 'its call is recorded, and not yet sent';
    case 'call made':
      return 'its call was made, and the answer is not recorded';
    case 'before next':
      return `the answer is recorded, and ${last}`;
    case 'before next, without a call':
      return `it made no call, and ${last}`;
    case 'waiting for approval':
      return 'its call waits for approval';
  }
}

function wordsOf({ did, connection, hasNext }: CrashPoint): string {
  const service = connection ?? 'the service';
  const on = hasNext ? 'goes on at next' : 'goes on to its commit';
  switch (did) {
    case 'went on':
      return 'nothing was under way: goes on with what is due';
    case 'ran again':
      return 'nothing of it was kept: it runs again from the start';
    case 'tried again':
      return 'nothing was sent: its events are free again, and it is tried from the start';
    case 'asked the service: done':
      return `asks ${service} what became of it: it happened, so it ${on} and is not sent again`;
    case 'asked the service: not done':
      return `asks ${service} what became of it: it did not happen, so it is sent now`;
    case 'asked the service, then you: done':
      return `asks ${service}, which cannot tell, and then would ask you; it happened: ${on}`;
    case 'asked the service, then you: not done':
      return `asks ${service}, which cannot say that something did not happen, and then would ask you; no: it is sent now`;
    case 'asked you: done':
      return `would ask you whether it happened, since ${service} cannot be asked; yes: ${on}`;
    case 'asked you: not done':
      return `would ask you whether it happened, since ${service} cannot be asked; no: it is sent now`;
    case 'went on at next':
      return `nothing is sent again: ${on}`;
    case 'waited for approval':
      return 'nothing was sent: it still waits for your approval';
  }
}
