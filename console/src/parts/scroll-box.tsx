import type { ReactNode } from 'react';

interface ScrollBoxProps {
  readonly label: string;
  readonly className: string;
  readonly children: ReactNode;
}

/** What scrolls by itself must have a name, and must be reachable by keyboard. */
export function ScrollBox({ label, className, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without a stop here, nobody can scroll it without a mouse
    <section className={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
