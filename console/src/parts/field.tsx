import type { ReactNode } from 'react';

interface FieldProps {
  readonly label: string;
  /** What else there is to know before one types. */
  readonly hint?: string;
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
