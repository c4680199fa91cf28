import { store } from '../api/store.ts';

/** What lies over the page; one at a time. */
export const overlay = store<'none' | 'palette' | 'shortcuts'>('none');

export function openPalette(): void {
  overlay.set('palette');
}

export function openShortcuts(): void {
  overlay.set('shortcuts');
}

export function closeOverlay(): void {
  overlay.set('none');
}
