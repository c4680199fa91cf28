import { store } from '../api/store.ts';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'pawl.theme';

export const theme = store<Theme>(read());

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function setTheme(next: Theme): void {
  if (next === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  theme.set(next);
  showTheme();
}

/** The style sheet follows the system by itself; a choice is put on the document. */
export function showTheme(): void {
  const now = theme.get();
  if (now === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
}
