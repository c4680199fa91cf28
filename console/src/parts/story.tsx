import type { ReactNode } from 'react';
import { useAnswer } from '../api/queries.ts';
import { addressOfId, Link } from '../app/router.tsx';
import { IDS, shortId } from '../words/ids.ts';
import { Section } from './section.tsx';

/** A line of a story begins with its time, in the engine's own zone. */
const STAMPED = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (.*)$/s;

/** What happened to one thing, in the order of time, as the engine tells it. */
export function Story({ id }: { readonly id: string }) {
  const { data } = useAnswer('GET /api/explain/{id}', { id });
  if (!data) return null;
  return (
    <Section title="What happened">
      <ol className="plain story">
        {data.story.map((line) => {
          const [, at, text] = STAMPED.exec(line) ?? [];
          return at === undefined ? (
            <li key={line} className="story-now">
              {withLinks(line)}
            </li>
          ) : (
            <li key={line}>
              <span className="numbers quiet">{at}</span>
              <span>{withLinks(text ?? '')}</span>
            </li>
          );
        })}
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
