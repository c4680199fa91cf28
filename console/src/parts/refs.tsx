import { ArrowDownToLine, ArrowUpFromLine, Layers } from 'lucide-react';
import type { Event, InputRow, Output } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { EVENT_WORDS, OUTPUT_TONES } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Ago } from './time.tsx';

interface InputRef extends Pick<InputRow, 'id' | 'source' | 'title'> {
  readonly createdAt?: number;
}

export function InputRefs({ inputs }: { readonly inputs: readonly InputRef[] }) {
  if (inputs.length === 0) return <p className="quiet">No input is named as its cause.</p>;
  return (
    <ul className="plain refs">
      {inputs.map(({ id, source, title, createdAt }) => (
        <li key={id}>
          <ArrowDownToLine aria-hidden size={14} />
          <Link to={to.input(id)}>{title}</Link>
          <span className="quiet">from {source}</span>
          {createdAt !== undefined && <Ago at={createdAt} />}
        </li>
      ))}
    </ul>
  );
}

export function EventRefs({ events, none }: { readonly events: readonly Event[]; readonly none: string }) {
  if (events.length === 0) return <p className="quiet">{none}</p>;
  return (
    <ul className="plain refs">
      {events.map(({ id, topic, messageId, title, status, createdAt }) => (
        <li key={id}>
          <Layers aria-hidden size={14} />
          <Link to={to.event(id)}>{title ?? `${topic} ${messageId}`}</Link>
          <span className="quiet">in {topic}</span>
          <Badge word={EVENT_WORDS[status]} />
          <Ago at={createdAt} />
        </li>
      ))}
    </ul>
  );
}

/** Calls that were made for something, each with the version that made it. */
export function OutputRefs({ outputs }: { readonly outputs: readonly Output[] }) {
  if (outputs.length === 0) return <p className="quiet">No call to the outside was made for it.</p>;
  return (
    <ul className="plain refs">
      {outputs.map(({ id, title, handler, words, status, version, createdAt }) => (
        <li key={id}>
          <ArrowUpFromLine aria-hidden size={14} />
          <Link to={to.output(id)}>{title ?? handler}</Link>
          <Badge word={[words, OUTPUT_TONES[status]]} />
          <span className="quiet">version {version}</span>
          <Ago at={createdAt} />
        </li>
      ))}
    </ul>
  );
}
