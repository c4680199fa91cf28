import { Clock3 } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { useAct } from '../api/act.ts';
import { request } from '../api/ask.ts';
import { engineNow, useTold } from '../api/clock.ts';
import type { Choice, Event, ResultAsked } from '../api-types.ts';
import { clockTime, duration } from '../words/time.ts';
import type { Age } from './bounds.ts';
import { AgeForm, CoverForm } from './bounds-form.tsx';
import { ChooseEvents } from './choose-events.tsx';
import { Command } from './command.tsx';
import { ResultForm } from './result-form.tsx';
import type { Filled } from './schema-fields.ts';
import { Trouble } from './trouble.tsx';

/** Nothing outside is touched by these, and they can be pressed again: they are done at once. */
const AT_ONCE: ReadonlySet<string> = new Set(['check_again', 'test', 'retry', 'park']);
const FIRST: ReadonlySet<string> = new Set(['happened', 'approve', 'test', 'deploy', 'allow', 'resume']);

interface ChoicesProps {
  readonly choices: readonly Choice[];
  readonly result: ResultAsked | null;
  /** What it is about, for what asks which of them. */
  readonly events?: readonly Event[];
  readonly onDone?: () => void;
}

/** What a person can press. Each says what it will do before it is pressed, and what cannot be undone asks once more. */
export function Choices({ choices, result, events = [], onDone }: ChoicesProps) {
  const [open, setOpen] = useState<string>();
  return (
    <ul className="plain choices">
      {choices.map((choice) => (
        <ChoiceLine
          key={choice.id}
          choice={choice}
          result={result}
          events={events}
          isOpen={open === choice.id}
          onOpen={(isOpen) => setOpen(isOpen ? choice.id : undefined)}
          onDone={onDone}
        />
      ))}
    </ul>
  );
}

interface ChoiceLineProps {
  readonly choice: Choice;
  readonly result: ResultAsked | null;
  readonly events: readonly Event[];
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onDone: (() => void) | undefined;
}

function ChoiceLine({ choice, result, events, isOpen, onOpen, onDone }: ChoiceLineProps) {
  const { id, label, does, notBefore, asks, request: asked, argv } = choice;
  const says = useId();
  const button = useRef<HTMLButtonElement>(null);
  const yes = useRef<HTMLButtonElement>(null);
  const act = useAct();
  const [filled, setFilled] = useState<Filled>();
  const wait = useTold((now) => (notBefore !== null && now < notBefore ? waitWords(notBefore, now) : ''));
  const wrong = filled && 'wrong' in filled ? filled.wrong : '';
  const form = asks === null || (asks === 'result' && !result) ? null : asks;
  const isAtOnce = AT_ONCE.has(id) && form === null;

  // What comes next stands where the button was pressed; a form is filled in first.
  useEffect(() => {
    if (isOpen && form === null) yes.current?.focus();
  }, [isOpen, form]);

  async function press(): Promise<void> {
    if (!asked) return;
    const given = filled && 'value' in filled ? { [asks ?? '']: givenBy(asks, filled.value) } : {};
    const body = { ...(asked.body as object), ...given };
    const isDone = await act.run(
      () => request(asked.method, asked.path, { body }),
      () => ({ title: label, description: does }),
    );
    if (!isDone) return;
    onOpen(false);
    onDone?.();
  }

  return (
    <li className="choice" data-open={isOpen || undefined}>
      {asked ? (
        <button
          ref={button}
          type="button"
          className={FIRST.has(id) ? 'button first' : 'button'}
          aria-describedby={says}
          aria-expanded={isAtOnce ? undefined : isOpen}
          disabled={wait !== '' || act.isBusy}
          onClick={() => (isAtOnce ? void press() : onOpen(!isOpen))}
        >
          {label}
        </button>
      ) : (
        <span className="choice-elsewhere">{label}</span>
      )}
      <div className="choice-words">
        <p id={says}>
          {does}
          {wait !== '' && (
            <span className="choice-wait">
              <Clock3 aria-hidden size={13} /> {wait}
            </span>
          )}
          {!asked && argv && (
            <>
              {' '}
              <Command argv={argv} />
            </>
          )}
        </p>
        {isOpen && (
          <div className="confirm">
            {form === 'result' && result && <ResultForm asked={result} onChange={setFilled} />}
            {form === 'cover' && <CoverForm onChange={setFilled} />}
            {form === 'olderThan' && <AgeForm onChange={setFilled} />}
            {form === 'events' && <ChooseEvents ids={idsIn(asked?.body)} events={events} onChange={setFilled} />}
            {wrong !== '' && <p className="wrong">{wrong}</p>}
            <div className="confirm-buttons">
              <button
                type="button"
                className="button first"
                ref={yes}
                disabled={act.isBusy || wrong !== ''}
                onClick={() => void press()}
              >
                Yes: {label.charAt(0).toLowerCase() + label.slice(1)}
              </button>
              <button
                type="button"
                className="button"
                onClick={() => {
                  onOpen(false);
                  button.current?.focus();
                }}
              >
                Not yet
              </button>
            </div>
          </div>
        )}
        {act.error !== undefined && <Trouble error={act.error} />}
      </div>
    </li>
  );
}

function idsIn(body: unknown): readonly string[] {
  return (body as { readonly events?: readonly string[] } | undefined)?.events ?? [];
}

/** An age is counted back from when it is said, by the engine's clock. */
function givenBy(asks: Choice['asks'], value: unknown): unknown {
  return asks === 'olderThan' ? engineNow() - (value as Age).ageMs : value;
}

function waitWords(notBefore: number, now: number): string {
  return `can be known from ${clockTime(notBefore, now)}, in ${duration(notBefore - now + 999)}`;
}
