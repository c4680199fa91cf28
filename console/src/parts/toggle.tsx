interface ToggleProps {
  readonly label: string;
  /** What it is about, for whoever hears buttons and does not see where they stand. */
  readonly of: string;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** Opens what stands below the line it is in, and closes it again. */
export function Toggle({ label, of, isOpen, onToggle }: ToggleProps) {
  return (
    <button type="button" className="quiet-button" aria-expanded={isOpen} onClick={onToggle}>
      {label}
      <span className="unseen"> {of}</span>
    </button>
  );
}
