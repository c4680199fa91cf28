import { useEffect } from 'react';
import { NAV } from './nav-items.ts';
import { focusPalette, openPalette, openShortcuts, overlay } from './overlays.ts';
import { navigate } from './router.tsx';

/** So long after `g` the next key is still meant to lead somewhere. */
const CHORD_MS = 1_500;

/** Keys for the whole page. What is typed into a field is never a command. */
export function useKeys(): void {
  useEffect(() => {
    /** Until then a key after `g` leads somewhere. */
    let goingUntil = 0;
    function onKey(event: KeyboardEvent): void {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (overlay.get() === 'palette') focusPalette();
      if (overlay.get() !== 'none') return;
      if (performance.now() < goingUntil) {
        goingUntil = 0;
        const item = NAV.find(({ key }) => key === event.key);
        if (item) navigate(item.to);
        return;
      }
      const act = KEYS[event.key];
      if (event.key === 'g') {
        goingUntil = performance.now() + CHORD_MS;
      } else if (act) {
        event.preventDefault();
        act();
      }
    }
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

const KEYS: Readonly<Record<string, () => void>> = {
  '/': openPalette,
  '?': openShortcuts,
  j: () => step(1),
  k: () => step(-1),
};

/** To the next or the previous row or card of what is shown. */
function step(by: 1 | -1): void {
  const stops = [...document.querySelectorAll<HTMLElement>('[data-stop]')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (by === 1 ? 0 : stops.length - 1) : at + by;
  stops[Math.max(0, Math.min(stops.length - 1, next))]?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input:not([type=checkbox],[type=radio]), textarea, select');
}
