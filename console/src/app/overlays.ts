import { store } from '../api/store.ts';

/** What lies over the page; one at a time. */
export const overlay = store<'none' | 'palette' | 'shortcuts'>('none');

export function openPalette(): void {
  overlay.set('palette');
}

/** Where the letters go that are typed before the palette has taken the focus, or after it gave it back too late. */
export function focusPalette(): void {
  if (document.activeElement?.closest('.palette') === null) {
    document.querySelector<HTMLElement>('.palette input')?.focus();
  }
}

export function openShortcuts(): void {
  overlay.set('shortcuts');
}

export function closeOverlay(): void {
  overlay.set('none');
}
