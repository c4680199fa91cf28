import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Ask } from '../route.ts';

const NAME = 'pawl_session';

export function sessionIn(ask: Ask): string | undefined {
  return getCookie(ask, NAME);
}

/** No script can read it, no other site sends it, and it ends with the session. */
export function keepSession(ask: Ask, secret: string, isSecure: boolean, maxAgeMs: number): void {
  setCookie(ask, NAME, secret, {
    httpOnly: true,
    sameSite: 'Strict',
    secure: isSecure,
    path: '/',
    maxAge: Math.floor(maxAgeMs / 1_000),
  });
}

export function forgetSession(ask: Ask, isSecure: boolean): void {
  deleteCookie(ask, NAME, { path: '/', secure: isSecure });
}
