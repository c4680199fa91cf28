import { type ReactNode, useEffect, useRef } from 'react';
import { useNeedsCount } from './nav.tsx';

interface PageProps {
  readonly title: string;
  /** Beside the title: a state, a version. */
  readonly aside?: ReactNode;
  /** Above the title: where this belongs. */
  readonly trail?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

let isFirst = true;

/** The frame of every page. Whoever comes here by a link is put at its title, so that a screen reader tells where they are. */
export function Page({ title, aside, trail, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const needs = useNeedsCount();
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  useEffect(() => {
    document.title = `${needs > 0 ? `(${needs}) ` : ''}${title} · Pawl`;
  }, [title, needs]);
  return (
    <>
      <div className="page-head">
        <div className="page-head-words">
          {trail && <div className="trail quiet">{trail}</div>}
          <div className="page-title">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {aside}
          </div>
          {lead && <p className="lead">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}
