import { Check, CircleDashed, CircleHelp, LoaderCircle, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { Tone, Word } from '../words/words.ts';

const SIGNS: Readonly<Record<Tone, LucideIcon>> = {
  good: Check,
  busy: LoaderCircle,
  ask: CircleHelp,
  bad: TriangleAlert,
  calm: CircleDashed,
};

/** A state in a word. The sign says the same as the colour, for whoever sees no colours. */
export function Badge({ word: [text, tone], title }: { readonly word: Word; readonly title?: string }) {
  const Sign = SIGNS[tone];
  return (
    <span className={`badge tone-${tone}`} title={title}>
      <Sign aria-hidden size={13} />
      <span>{text}</span>
    </span>
  );
}
