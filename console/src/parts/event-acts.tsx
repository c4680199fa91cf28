import { Archive, ArchiveRestore, type LucideIcon, RotateCcw, SkipForward } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import type { Event, EventStatus } from '../api-types.ts';
import { count } from '../words/words.ts';
import { Confirm } from './confirm.tsx';

type Verb = 'skip' | 'park' | 'unpark' | 'redo';

interface Doing {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly from: readonly EventStatus[];
  readonly does: (events: string) => string;
}

const DOINGS: Readonly<Record<Verb, Doing>> = {
  park: {
    label: 'Put aside',
    icon: Archive,
    from: ['pending'],
    does: (events) => `${events} will wait until brought back.`,
  },
  unpark: {
    label: 'Bring back',
    icon: ArchiveRestore,
    from: ['parked'],
    does: (events) => `${events} will be worked on again.`,
  },
  skip: {
    label: 'Skip',
    icon: SkipForward,
    from: ['pending', 'parked'],
    does: (events) => `${events} will not be done. Skipped events can be done again later.`,
  },
  redo: {
    label: 'Do again',
    icon: RotateCcw,
    from: ['consumed', 'skipped'],
    does: (events) => `${events} will be done again as new events: what they caused outside can happen a second time.`,
  },
};

interface EventActsProps {
  readonly events: readonly Pick<Event, 'id' | 'status'>[];
  readonly onDone?: () => void;
}

/** What can be done with one event or many. Each says what it will do, and asks once more. */
export function EventActs({ events, onDone }: EventActsProps) {
  const [asked, setAsked] = useState<Verb>();
  const act = useAct();
  const verbs = (Object.keys(DOINGS) as Verb[]).filter((verb) => fitting(verb, events).length > 0);
  if (verbs.length === 0) return null;

  async function press(verb: Verb): Promise<void> {
    const ids = fitting(verb, events).map(({ id }) => id);
    const isDone = await act.run(
      () => ask(`POST /api/events/${verb}`, {}, { body: { events: ids } }),
      () => ({ title: `${DOINGS[verb].label}: ${count(ids.length, 'event')}` }),
    );
    if (!isDone) return;
    setAsked(undefined);
    onDone?.();
  }

  return (
    <div className="event-acts">
      <div className="actions">
        {verbs.map((verb) => {
          const { label, icon: Icon } = DOINGS[verb];
          return (
            <button
              key={verb}
              type="button"
              className="button"
              aria-expanded={asked === verb}
              onClick={() => setAsked(asked === verb ? undefined : verb)}
            >
              <Icon aria-hidden size={15} /> {label}
            </button>
          );
        })}
      </div>
      {asked !== undefined && verbs.includes(asked) && (
        <Confirm
          label={DOINGS[asked].label}
          yes={DOINGS[asked].label.toLowerCase()}
          act={act}
          onYes={() => void press(asked)}
          onNo={() => setAsked(undefined)}
        >
          <p>{DOINGS[asked].does(count(fitting(asked, events).length, 'event'))}</p>
        </Confirm>
      )}
    </div>
  );
}

function fitting(verb: Verb, events: EventActsProps['events']): EventActsProps['events'] {
  return events.filter(({ status }) => DOINGS[verb].from.includes(status));
}
