import type { ReactNode } from 'react';
import { useAnswer } from '../api/queries.ts';
import { addressOfId, Link } from '../app/router.tsx';
import { IDS, shortId } from '../words/ids.ts';
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
  const lines = newestFirst ? data.lines.toReversed() : data.lines;
  return (
    <Section title="What happened" isBoxed>
      <ol className="plain story">
        {lines.map(({ at, text }) => (
          <li key={`${at} ${text}`} className={at === null ? 'story-now' : undefined}>
            {at !== null && <Ago at={at} className="numbers quiet" />}
            <span>{withLinks(text)}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Ids in a sentence lead to what they name. */
function withLinks(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const { 0: id, index } of text.matchAll(IDS)) {
    const address = addressOfId(id);
    if (address === undefined) continue;
    parts.push(
      text.slice(from, index),
      <Link key={index} to={address} title={id}>
        {shortId(id)}
      </Link>,
    );
    from = index + id.length;
  }
  return [...parts, text.slice(from)];
}
