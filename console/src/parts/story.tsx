import { useAnswer } from '../api/queries.ts';
import type { Explained } from '../api-types.ts';
import { Linked } from './linked.tsx';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';

interface StoryProps {
  readonly id: string;
  /** What goes on without an end is read from its end. */
  readonly newestFirst?: boolean;
}

/** What happened to one thing, in the order of time, as the engine tells it. */
export function Story({ id, newestFirst = false }: StoryProps) {
  const { data } = useAnswer('GET /api/explain/{id}', { id });
  if (!data) return null;
  const lines = newestFirst ? fromTheEnd(data.lines) : data.lines;
  return (
    <Section title="What happened" isBoxed>
      <ol className="plain story">
        {lines.map(({ at, text }) => (
          <li
            key={`${at} ${text}`}
            className={at === null ? (isNow(text) ? 'story-now' : 'story-note quiet') : undefined}
          >
            {at !== null && <Ago at={at} className="numbers quiet" />}
            <span>
              <Linked text={text} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

type Lines = Explained['lines'];

/** How it stands, then the newest; what is said of the story itself comes last. */
function fromTheEnd(lines: Lines): Lines {
  const told = lines.filter(({ at }) => at !== null).toReversed();
  const rest = lines.filter(({ at }) => at === null);
  return [...rest.filter(({ text }) => isNow(text)), ...told, ...rest.filter(({ text }) => !isNow(text))];
}

function isNow(text: string): boolean {
  return text.startsWith('Now: ');
}
