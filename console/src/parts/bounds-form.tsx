import { useEffect, useState } from 'react';
import { AGE_UNITS, type AgeUnit, ageOf, coverOf } from './bounds.ts';
import { ChoiceField, TextField } from './field.tsx';
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
      <TextField inputMode="decimal" label="Calls besides this one" value={calls} onType={setCalls} />
      <TextField inputMode="decimal" label="Within hours" value={hours} onType={setHours} />
      <ChoiceField
        label="Where"
        value={isOnlyHere ? 'this' : ''}
        options={[
          ['', 'where it was allowed'],
          ['this', 'only on this target'],
        ]}
        onChoose={(value) => setOnlyHere(value === 'this')}
      />
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
      <TextField inputMode="decimal" label="Older than" value={amount} onType={setAmount} />
      <ChoiceField
        label="Unit"
        value={unit}
        options={Object.keys(AGE_UNITS).map((each) => [each, each])}
        onChoose={(value) => setUnit(value as AgeUnit)}
      />
    </fieldset>
  );
}
