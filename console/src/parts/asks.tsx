import { Eye, type LucideIcon, Minus, Pencil, Plus } from 'lucide-react';
import type { Ask } from '../api-types.ts';
import { capitalized } from '../words/words.ts';
import type { Judged } from './asks-differ.ts';

const SIGNS: Readonly<Record<Ask['kind'], LucideIcon>> = { read: Eye, change: Pencil };

/** What a version asks for or a workflow may do: a sentence a line, which a person can judge. */
export function Asks({ asks, label }: { readonly asks: readonly Judged[]; readonly label: string }) {
  return (
    <ul className="plain asks" aria-label={label}>
      {asks.map(({ ask, sign }) => {
        const Sign = sign === '+' ? Plus : sign === '−' ? Minus : SIGNS[ask.kind];
        return (
          <li key={`${sign} ${ask.connection} ${ask.method} ${ask.sentence}`} data-sign={sign} data-kind={ask.kind}>
            <Sign aria-hidden size={15} />
            <div>
              {sign && <span className="unseen">{sign === '+' ? 'New: ' : 'No more: '}</span>}
              {capitalized(ask.sentence)}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
