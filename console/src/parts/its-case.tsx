import { useAnswer } from '../api/queries.ts';
import type { Need } from '../api-types.ts';
import { NeedCard } from './need-card.tsx';

interface ItsCaseProps {
  readonly workflow: string;
  /** What is over, or goes on by itself, waits in no case: nothing is asked. */
  readonly mayWait: boolean;
  readonly isIn: (need: Need) => boolean;
}

/** The case that something waits in, to be answered right where it was come upon. */
export function ItsCase({ workflow, mayWait, isIn }: ItsCaseProps) {
  const { data } = useAnswer('GET /api/needs', { workflow }, { enabled: mayWait });
  const need = mayWait ? data?.items.find(isIn) : undefined;
  if (!need) return null;
  return (
    <div className="cards">
      <NeedCard key={`${need.kind} ${need.id}`} need={need} isOpen={false} />
    </div>
  );
}
