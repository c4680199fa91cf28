import { useEffect, useId, useState } from 'react';
import type { ResultAsked } from '../api-types.ts';
import { type Field, type Filled, fieldsOf, filledIn, json } from './schema-fields.ts';

interface ResultFormProps {
  readonly asked: ResultAsked;
  /** Undefined: nothing is given, and the engine records what it knows. */
  readonly onChange: (filled: Filled | undefined) => void;
}

/** The result of a call that happened: given by a person, or left to what the engine knows. */
export function ResultForm({ asked, onChange }: ResultFormProps) {
  const [isGiven, setGiven] = useState(asked.required);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const fields = fieldsOf(asked.schema);
  const group = useId();
  // What must be given and is not yet is said before anything is pressed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form is opened
  useEffect(() => {
    if (asked.required) tell(true, typed);
  }, []);

  function tell(given: boolean, texts: Readonly<Record<string, string>>): void {
    setGiven(given);
    setTyped(texts);
    if (given) onChange(fields ? filledIn(fields, texts) : json(texts.whole ?? ''));
    else onChange(undefined);
  }

  return (
    <fieldset className="result-form">
      <legend>What did it give back?</legend>
      {!asked.required && (
        <label className="option">
          <input type="radio" name={group} checked={!isGiven} onChange={() => tell(false, typed)} />
          <span>
            {asked.assumed === null ? (
              <>I do not know: the script goes on with an empty result.</>
            ) : (
              <>
                As such a call always does: <code>{JSON.stringify(asked.assumed)}</code>
              </>
            )}
          </span>
        </label>
      )}
      {!asked.required && (
        <label className="option">
          <input type="radio" name={group} checked={isGiven} onChange={() => tell(true, typed)} />
          <span>I know it, and give it here:</span>
        </label>
      )}
      {isGiven && (
        <div className="result-fields">
          {(fields ?? [WHOLE]).map((field) => (
            <ResultField
              key={field.name}
              field={field}
              text={typed[field.name] ?? ''}
              onType={(text) => tell(true, { ...typed, [field.name]: text })}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}

const WHOLE: Field = { name: 'whole', kind: 'json', isRequired: true, options: [], says: 'The whole result, as JSON' };

interface ResultFieldProps {
  readonly field: Field;
  readonly text: string;
  readonly onType: (text: string) => void;
}

function ResultField({ field: { name, kind, isRequired, options, says }, text, onType }: ResultFieldProps) {
  const id = useId();
  const label = name === 'whole' ? 'Result' : name;
  const hint = [kind === 'json' ? 'JSON' : '', isRequired ? '' : 'may be left out', says].filter((word) => word !== '');
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} {hint.length > 0 && <span className="quiet">({hint.join(', ')})</span>}
      </label>
      {kind === 'json' ? (
        <textarea id={id} rows={2} value={text} spellCheck={false} onChange={(event) => onType(event.target.value)} />
      ) : kind === 'one-of' || kind === 'yes-no' ? (
        <select id={id} value={text} onChange={(event) => onType(event.target.value)}>
          <option value=""> </option>
          {(kind === 'yes-no' ? ['true', 'false'] : options).map((option) => (
            <option key={option} value={option}>
              {kind === 'yes-no' ? (option === 'true' ? 'yes' : 'no') : option}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          type="text"
          inputMode={kind === 'number' ? 'numeric' : 'text'}
          value={text}
          onChange={(event) => onType(event.target.value)}
        />
      )}
    </div>
  );
}
