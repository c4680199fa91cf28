import { useEffect, useState } from 'react';
import { AGE_UNITS, type AgeUnit, ageOf, coverOf } from './bounds.ts';
import { Field } from './field.tsx';
import type { Filled } from './schema-fields.ts';

interface BoundsFormProps {
  readonly onChange: (filled: Filled) => void;
}

/** So many more, within so long. */
export function CoverForm({ onChange }: BoundsFormProps) {
  const [calls, setCalls] = useState('10');
  const [hours, setHours] = useState('24');
  const [isOnlyHere, setOnlyHere] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed is told, whoever listens
  useEffect(() => onChange(coverOf(calls, hours, isOnlyHere)), [calls, hours, isOnlyHere]);
  return (
    <fieldset className="bounds">
      <legend>How many more, and for how long?</legend>
      <NumberField label="Calls besides this one" value={calls} onType={setCalls} />
      <NumberField label="Within hours" value={hours} onType={setHours} />
      <Field label="Where">
        <select value={isOnlyHere ? 'this' : ''} onChange={(event) => setOnlyHere(event.target.value === 'this')}>
          <option value="">where it was allowed</option>
          <option value="this">only on this target</option>
        </select>
      </Field>
    </fieldset>
  );
}

/** Older than so long. */
export function AgeForm({ onChange }: BoundsFormProps) {
  const [amount, setAmount] = useState('2');
  const [unit, setUnit] = useState<AgeUnit>('days');
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed is told, whoever listens
  useEffect(() => onChange(ageOf(amount, unit)), [amount, unit]);
  return (
    <fieldset className="bounds">
      <legend>Older than what will not be done?</legend>
      <NumberField label="Older than" value={amount} onType={setAmount} />
      <Field label="Unit">
        <select value={unit} onChange={(event) => setUnit(event.target.value as AgeUnit)}>
          {Object.keys(AGE_UNITS).map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </Field>
    </fieldset>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
}

function NumberField({ label, value, onType }: NumberFieldProps) {
  return (
    <Field label={label}>
      <input type="text" inputMode="decimal" value={value} onChange={(event) => onType(event.target.value)} />
    </Field>
  );
}
