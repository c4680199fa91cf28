import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { Ask } from './route.ts';

interface File {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isFingerprinted: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json',
};

/** Larger than any console; a folder that holds more is not one. */
const FILES_MAX = 2_000;

/** The built console. Files are known by name from the start, so that no path leads anywhere else. */
export class ConsoleFiles {
  readonly #files = new Map<string, File>();

  constructor(folder: string) {
    for (const path of pathsIn(folder))
      this.#files.set(`/${relative(folder, path).split(sep).join('/')}`, fileAt(path));
  }

  /** A file, or the page for every address that is the page's own to know. */
  answer(ask: Ask): Response {
    const { path } = ask.req;
    const file = this.#files.get(path);
    if (file) return sent(ask, file);
    const page = extname(path) === '' ? this.#files.get('/index.html') : undefined;
    if (page) return sent(ask, page);
    if (path === '/' && this.#files.size === 0) return ask.text(NOT_BUILT, 200);
    return ask.text('There is nothing here.\n', 404);
  }
}

const NOT_BUILT = `The engine runs, and its console is not built.

Build it in the checkout of Pawl: npm run console:build
Until then: npx pawl status
`;

function sent(ask: Ask, { body, type, etag, isFingerprinted }: File): Response {
  ask.header('etag', etag);
  ask.header('cache-control', isFingerprinted ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (ask.req.header('if-none-match') === etag) return ask.body(null, 304);
  return ask.body(body, 200, { 'content-type': type });
}

function pathsIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .slice(0, FILES_MAX)
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function fileAt(path: string): File {
  const body = new Uint8Array(readFileSync(path));
  return {
    body,
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    isFingerprinted: path.includes(`${sep}assets${sep}`),
  };
}
