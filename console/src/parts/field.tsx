import type { ComponentProps, ReactNode } from 'react';

interface FieldProps {
  readonly label: string;
  /** What else there is to know before one types. */
  readonly hint?: string | undefined;
  readonly children: ReactNode;
}

/** One thing to type or to choose, under its name. */
export function Field({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: what is typed into is given as a child
    <label className="field">
      <span>
        {label} {hint !== undefined && <span className="quiet">({hint})</span>}
      </span>
      {children}
    </label>
  );
}

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onType: (text: string) => void;
}

export function TextField({ label, hint, onType, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      <input type="text" {...input} onChange={(event) => onType(event.target.value)} />
    </Field>
  );
}

interface ChoiceFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}

export function ChoiceField({ label, value, options, onChoose }: ChoiceFieldProps) {
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => onChoose(event.target.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}
