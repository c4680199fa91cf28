import type { Me } from '../api-types.ts';
import { store } from './store.ts';

export type Who =
  /** It is being found out. */
  | { readonly state: 'asking' }
  | { readonly state: 'in'; readonly me: Me }
  | { readonly state: 'out'; readonly why: 'new' | 'expired' | 'left' };

/** Who sits here. */
export const who = store<Who>({ state: 'asking' });

/**
 * A session is half a cookie, which no script can read, and half this, which only pages of this origin have. It is kept so that
 * a page that is loaded anew is still somebody's.
 */
const KEY = 'pawl.csrf';

export function keepHalf(csrf: string): void {
  localStorage.setItem(KEY, csrf);
}

export function forgetHalf(): void {
  localStorage.removeItem(KEY);
}

export function hasHalf(): boolean {
  return localStorage.getItem(KEY) !== null;
}

export function credentials(): Record<string, string> {
  const csrf = localStorage.getItem(KEY);
  return csrf === null ? {} : { 'x-pawl-csrf': csrf };
}

/** The engine does not know this session (any more). */
export function signedOut(): void {
  if (who.get().state !== 'in') return;
  forgetHalf();
  who.set({ state: 'out', why: 'expired' });
}
