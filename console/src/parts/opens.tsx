import type { LucideIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';

interface OpensProps {
  readonly icon: LucideIcon;
  readonly label: string;
  /** What asks whether it is meant, and is told how to close itself. */
  readonly children: (close: () => void) => ReactNode;
}

/** A button that opens what belongs to it, below. */
export function Opens({ icon: Icon, label, children }: OpensProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="event-acts">
      <div className="actions">
        <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon aria-hidden size={15} /> {label}
        </button>
      </div>
      {isOpen && children(() => setOpen(false))}
    </div>
  );
}
