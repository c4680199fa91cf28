import { createMiddleware } from 'hono/factory';
import type { Env } from './route.ts';

/** A page of ours loads nothing from elsewhere, runs no script that is not a file of ours, and is shown in no frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** On every answer, errors too. What the API says is for whoever asked, and is kept nowhere. */
export function securityHeaders(isSecure: boolean) {
  return createMiddleware<Env>(async (ask, next) => {
    for (const [name, value] of Object.entries(HEADERS)) ask.header(name, value);
    if (isSecure) ask.header('strict-transport-security', 'max-age=31536000');
    if (/^\/(?:api\/|health$|ready$|metrics$)/.test(ask.req.path)) ask.header('cache-control', 'no-store');
    await next();
  });
}
