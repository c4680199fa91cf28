import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
}

/** Where there is nothing yet: what will be here, and how it gets here. */
export function Empty({ icon: Icon, title, children }: EmptyProps) {
  return (
    <div className="empty">
      <Icon aria-hidden size={28} strokeWidth={1.5} />
      <p className="empty-title">{title}</p>
      {children && <div className="quiet">{children}</div>}
    </div>
  );
}
