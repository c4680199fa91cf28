import type { ReactNode } from 'react';

/** A titled part of a card. */
export function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
