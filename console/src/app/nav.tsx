import { Dialog } from '@base-ui/react/dialog';
import { Ellipsis, Search } from 'lucide-react';
import { useState } from 'react';
import { useAnswer } from '../api/queries.ts';
import { LinkSign } from './link-sign.tsx';
import { Logo } from './logo.tsx';
import { isHere, NAV, type NavItem } from './nav-items.ts';
import { openPalette } from './overlays.ts';
import { Link, usePlace } from './router.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

/** A page that nobody looks at hears nothing live; its title still says when somebody is needed. */
const COUNT_EVERY_MS = 60_000;

export function useNeedsCount(): number {
  const { data } = useAnswer('GET /api/needs/count', {}, { everyMs: COUNT_EVERY_MS });
  return data?.total ?? 0;
}

/** At the side of a desk's screen. */
export function Sidebar() {
  return (
    <header className="sidebar">
      <Link to="/" className="brand">
        <Logo size={22} />
        <span>Pawl</span>
      </Link>
      <button type="button" className="search-button" onClick={() => openPalette()}>
        <Search aria-hidden size={14} />
        <span>Search or go to</span>
        <kbd>/</kbd>
      </button>
      <nav aria-label="Main">
        <ul className="plain">
          {NAV.map((item) => (
            <li key={item.to}>
              <NavLink item={item} />
            </li>
          ))}
        </ul>
      </nav>
      <div className="sidebar-foot">
        <LinkSign />
        <ThemeSwitch />
      </div>
    </header>
  );
}

const IN_THUMBS_REACH = 4;

/** At the bottom of a phone's screen. */
export function BottomBar() {
  const [isOpen, setOpen] = useState(false);
  const { path } = usePlace();
  const more = NAV.slice(IN_THUMBS_REACH);
  return (
    <nav className="bottom-bar" aria-label="Main">
      {NAV.slice(0, IN_THUMBS_REACH).map((item) => (
        <NavLink key={item.to} item={item} isShort />
      ))}
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Trigger className="nav-link" data-here={more.some((item) => isHere(item, path)) || undefined}>
          <Ellipsis aria-hidden size={18} />
          <span>More</span>
        </Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Backdrop className="backdrop" />
          <Dialog.Popup className="sheet">
            <Dialog.Title className="sheet-title">Go to</Dialog.Title>
            <ul className="plain sheet-list">
              <li>
                <button
                  type="button"
                  className="nav-link"
                  onClick={() => {
                    setOpen(false);
                    openPalette();
                  }}
                >
                  <Search aria-hidden size={18} />
                  <span>Search</span>
                </button>
              </li>
              {more.map((item) => (
                <li key={item.to}>
                  <NavLink item={item} onFollow={() => setOpen(false)} />
                </li>
              ))}
            </ul>
            <div className="sidebar-foot">
              <LinkSign />
              <ThemeSwitch />
            </div>
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </nav>
  );
}

interface NavLinkProps {
  readonly item: NavItem;
  readonly isShort?: boolean;
  readonly onFollow?: () => void;
}

function NavLink({ item, isShort = false, onFollow }: NavLinkProps) {
  const { path } = usePlace();
  const needs = useNeedsCount();
  const here = isHere(item, path);
  const badge = item.to === '/needs' && needs > 0 ? needs : undefined;
  const Icon = item.icon;
  return (
    <Link
      to={item.to}
      className="nav-link"
      aria-current={here ? 'page' : undefined}
      data-here={here || undefined}
      onClick={onFollow}
    >
      <Icon aria-hidden size={18} strokeWidth={1.75} />
      {isShort && item.short !== undefined ? (
        <span>
          {item.short}
          <span className="unseen">{item.label.slice(item.short.length)}</span>
        </span>
      ) : (
        <span>{item.label}</span>
      )}
      {badge !== undefined && (
        <span className="count">
          {badge}
          <span className="unseen"> waiting for you</span>
        </span>
      )}
    </Link>
  );
}
