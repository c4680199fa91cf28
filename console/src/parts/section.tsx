import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  /** Inside a card or another section. */
  readonly level?: 2 | 3;
  /** What belongs together stands in a frame. */
  readonly isBoxed?: boolean;
}

export function Section({ title, aside, children, level = 2, isBoxed = false }: SectionProps) {
  const Heading = level === 2 ? 'h2' : 'h3';
  return (
    <section className="section">
      <div className="section-head">
        <Heading>{title}</Heading>
        {aside}
      </div>
      {isBoxed ? <div className="card box">{children}</div> : children}
    </section>
  );
}

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
  /** In a frame of their own: what a page begins with. */
  readonly isBoxed?: boolean;
}

/** Names and values, for what is known of one thing. */
export function Facts({ facts, isBoxed = false }: FactsProps) {
  if (facts.length === 0) return null;
  return (
    <dl className={isBoxed ? 'facts card page-facts' : 'facts'}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
