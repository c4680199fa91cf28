import {
  ArrowDownToLine,
  ArrowUpFromLine,
  Cable,
  Hand,
  History,
  House,
  Layers,
  type LucideIcon,
  ScrollText,
  ServerCog,
  Settings,
  Workflow,
} from 'lucide-react';

export interface NavItem {
  readonly to: string;
  readonly label: string;
  /** Where there is little room. */
  readonly short?: string;
  readonly icon: LucideIcon;
  /** Typed after `g`, it leads there. */
  readonly key: string;
}

export const NAV: readonly NavItem[] = [
  { to: '/', label: 'Home', icon: House, key: 'h' },
  { to: '/needs', label: 'Action required', short: 'Action', icon: Hand, key: 'a' },
  { to: '/inputs', label: 'Inputs', icon: ArrowDownToLine, key: 'i' },
  { to: '/outputs', label: 'Outputs', icon: ArrowUpFromLine, key: 'o' },
  { to: '/workflows', label: 'Workflows', icon: Workflow, key: 'w' },
  { to: '/events', label: 'Events', icon: Layers, key: 'e' },
  { to: '/sessions', label: 'Sessions', icon: History, key: 's' },
  { to: '/connections', label: 'Connections', icon: Cable, key: 'c' },
  { to: '/workers', label: 'Workers', icon: ServerCog, key: 'k' },
  { to: '/audit', label: 'Audit', icon: ScrollText, key: 'u' },
  { to: '/settings', label: 'Settings', icon: Settings, key: ',' },
];

export function isHere(item: NavItem, path: string): boolean {
  return item.to === '/' ? path === '/' : path === item.to || path.startsWith(`${item.to}/`);
}
