// Who may import whom. A new room gets a row here, a line in `imports` of package.json, and nothing else.

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Literal } from './scan.ts';
import { place, type SourceFile, sourceFiles } from './source-files.ts';

/** Each room and the rooms it may import. A room imports only rooms above it in this table. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: ['base'],
  store: ['base', 'model'],
  execution: ['base', 'model', 'store'],
  metrics: ['base', 'model'],
  log: ['base', 'model', 'metrics'],
  trace: ['base', 'model', 'metrics'],
  sdk: [],
  script: ['base', 'model', 'sdk'],
  sandbox: ['base'],
  connector: ['base', 'sdk'],
  trigger: ['base'],
  permission: ['base', 'model'],
  secret: ['base', 'model', 'execution'],
  ledger: ['base', 'model', 'execution', 'connector', 'permission'],
  handler: ['base', 'model', 'execution', 'connector', 'ledger', 'sandbox', 'script'],
  session: ['base', 'model', 'execution', 'handler'],
  scheduler: ['base', 'execution'],
  worker: ['base', 'execution'],
  bus: ['base', 'model', 'execution'],
  retention: ['base', 'execution'],
  transfer: ['base', 'model', 'execution'],
  app: [
    'base',
    'model',
    'execution',
    'script',
    'sandbox',
    'connector',
    'permission',
    'secret',
    'ledger',
    'handler',
    'session',
    'scheduler',
    'worker',
    'bus',
    'retention',
    'metrics',
  ],
  rehearse: ['base', 'model', 'execution', 'script', 'sandbox', 'connector', 'ledger', 'handler', 'session'],
  story: ['base', 'model', 'execution', 'permission'],
  notify: ['base', 'model', 'execution', 'connector', 'story'],
  http: [
    'base',
    'model',
    'execution',
    'metrics',
    'script',
    'connector',
    'trigger',
    'permission',
    'transfer',
    'app',
    'story',
    'notify',
  ],
  cli: [
    'base',
    'model',
    'store',
    'log',
    'trace',
    'sdk',
    'script',
    'sandbox',
    'connector',
    'secret',
    'app',
    'rehearse',
    'story',
    'notify',
    'http',
  ],
};

/** The store can write, so it is handed only to the room whose job that is, and to the one that opens and inspects it. */
export const ROOMS_TRUSTED_WITH_STORE = ['execution', 'cli'];

const EVERY_ROOM = Object.keys(ROOMS);

/** The places that are no room: the composition root, and the folders beside `src`. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  'src/main.ts': EVERY_ROOM,
  test: EVERY_ROOM,
  bench: EVERY_ROOM,
  scripts: ['base', 'model', 'http'],
};

/** Offences against the table: rooms meet only at `#name`. */
export function importOffences(root: string): string[] {
  return sourceFiles(root, 'src', 'test', 'bench', 'scripts').flatMap((file) => [
    ...computedImports(file),
    ...file.literals.flatMap((literal) => {
      const offence = offenceOf(file, literal);
      return offence === undefined ? [] : [`${place(file, literal.start)} ${offence}`];
    }),
  ]);
}

/** Offences of the rooms themselves: each is in the table and has its door in package.json, and nothing else has one. */
export function roomOffences(root: string): string[] {
  const { imports = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    imports?: Record<string, unknown>;
  };
  const entries = readdirSync(join(root, 'src'), { withFileTypes: true });
  const rooms = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const strayFiles = entries.filter((entry) => !entry.isDirectory() && OUTSIDE[`src/${entry.name}`] === undefined);
  return [
    ...strayFiles.map(({ name }) => `src/${name} belongs to no room: only src/main.ts stands outside`),
    ...rooms
      .filter((room) => ROOMS[room] === undefined)
      .map((room) => `src/${room} is not in the table of rooms: say there what it may import`),
    ...rooms
      .filter((room) => imports[`#${room}`] !== `./src/${room}/index.ts`)
      .map((room) => `package.json: "#${room}" must lead to ./src/${room}/index.ts`),
    ...Object.keys(imports)
      .filter((name) => ROOMS[name.slice(1)] === undefined)
      .map((name) => `package.json: "${name}" leads to no room of the table`),
  ];
}

/** The module specifier a literal stands for, if it does. A relative path to a source file always counts. */
export function specifierOf(file: SourceFile, { text, start }: Literal): string | undefined {
  const isImported = /\b(?:from|import|(?:import|require|resolve)\s*\()\s*$/.test(
    file.code.slice(0, start).slice(-200),
  );
  return isImported || /^\.{1,2}\/.*\.[cm]?[jt]s$/.test(text) ? text : undefined;
}

function offenceOf(file: SourceFile, literal: Literal): string | undefined {
  const specifier = specifierOf(file, literal);
  if (specifier === undefined) return undefined;
  if (specifier.startsWith('#')) return doorOffence(file, specifier);
  if (specifier.startsWith('.')) return pathOffence(file, specifier);
  if (/^(?:\/|file:)/.test(specifier)) return `imports by an absolute path: ${specifier}`;
  return undefined;
}

function doorOffence(file: SourceFile, specifier: string): string | undefined {
  const target = specifier.slice(1);
  if (target.includes('/')) return `reaches past a door: ${specifier}`;
  if (ROOMS[target] === undefined) return `imports ${specifier}, which is no room of the table`;
  const room = roomOf(file.path);
  if (target === room) return file.isTest ? undefined : `leaves its own room to come back in by ${specifier}`;
  const allowed = allowedFor(file.path);
  if (allowed === undefined) return `imports ${specifier} from a place the table does not know`;
  return allowed.includes(target) ? undefined : `${room ?? file.path} may not import ${specifier}`;
}

function pathOffence(file: SourceFile, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(file.path), specifier);
  const room = roomOf(file.path);
  const targetRoom = roomOf(target);
  if (targetRoom !== undefined && targetRoom !== room) return `enters ${targetRoom} by a path: import #${targetRoom}`;
  if (file.isTest || !file.path.startsWith('src/')) return undefined;
  if (!target.startsWith('src/')) return `leaves src by a path: ${specifier}`;
  return /\.test\.[cm]?[jt]s$/.test(target) ? `imports a test: ${specifier}` : undefined;
}

/** The operator's own file, whose path only the operator knows. */
const LOADS_THE_CONFIG = 'src/cli/load-config.ts';

/** What is imported must be written out, or nobody can check it. */
function computedImports(file: SourceFile): string[] {
  if (file.path === LOADS_THE_CONFIG) return [];
  return [...file.code.matchAll(/(?<![\w$.])(?:import|require)\s*\(\s*(?![\s'"`])/g)].map(
    (match) => `${place(file, match.index)} imports something computed`,
  );
}

function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

function allowedFor(path: string): readonly string[] | undefined {
  const room = roomOf(path);
  if (room !== undefined) return ROOMS[room];
  return OUTSIDE[path] ?? OUTSIDE[path.split('/')[0] ?? ''];
}
