import type { Status } from '../api-types.ts';
import { STANDING_WORDS } from '../words/words.ts';
import { Badge } from './badge.tsx';

/** How a workflow stands, in a word for each reason: it can be paused while what still runs is cancelled. */
export function Standing({ kinds }: Pick<Status, 'kinds'>) {
  const words = new Map(kinds.map((kind) => [STANDING_WORDS[kind][0], STANDING_WORDS[kind]]));
  return (
    <span className="standing">
      {[...words].map(([text, word]) => (
        <Badge key={text} word={word} />
      ))}
    </span>
  );
}
