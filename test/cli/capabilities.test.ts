import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROUTES } from '#http';
import { type } from './typed-terminal.ts';

// Whatever can be typed can be asked of the API. A command that is added must be told here what it asks for, or why it asks nothing.

const DOCS = join(dirname(dirname(import.meta.dirname)), 'docs', 'cli.md');

const here = (why: string) => ({ why });

const COMMANDS: Readonly<Record<string, readonly string[] | { readonly why: string }>> = {
  status: ['GET /api/status'],
  needs: ['GET /api/needs'],
  start: here('it is the engine'),
  backup: ['POST /api/backup'],
  restore: here('it makes a data folder that no engine has yet'),
  doctor: ['GET /api/doctor'],
  retention: ['GET /api/retention', 'POST /api/retention/preview', 'POST /api/retention/run'],
  export: ['POST /api/workflows/{workflow}/export'],
  import: ['POST /api/import'],
  'migrate-store': here('it moves a data folder that no engine has open'),
  example: here('it starts engines of its own'),
  executor: here('it is the engine'),
  worker: here('it is the engine'),
  workers: ['GET /api/workers'],
  cordon: ['POST /api/workers/{worker}/cordon'],
  uncordon: ['POST /api/workers/{worker}/uncordon'],
  drain: ['POST /api/workers/{worker}/drain'],
  validate: ['POST /api/validate'],
  deploy: ['POST /api/deploy', 'POST /api/requests/{id}/allow'],
  rehearse: ['GET /api/workflows/{workflow}/recorded'],
  trigger: ['POST /api/workflows/{workflow}/trigger'],
  pause: ['POST /api/workflows/{workflow}/pause'],
  resume: ['POST /api/workflows/{workflow}/resume'],
  cancel: ['POST /api/workflows/{workflow}/cancel'],
  retry: ['POST /api/workflows/{workflow}/retry'],
  archive: ['POST /api/workflows/{workflow}/archive'],
  skip: ['POST /api/events/skip', 'GET /api/show/{id}'],
  park: ['POST /api/events/park'],
  unpark: ['POST /api/events/unpark'],
  redo: ['POST /api/events/redo'],
  finish: ['POST /api/runs/{id}/finish'],
  rollback: ['POST /api/workflows/{workflow}/rollback'],
  publish: ['POST /api/workflows/{workflow}/publish'],
  resolve: ['POST /api/outputs/{id}/resolve', 'POST /api/outputs/resolve'],
  'set-aside': ['POST /api/outputs/{id}/set-aside'],
  approve: [
    'POST /api/outputs/{id}/approve',
    'POST /api/requests/{id}/allow',
    'POST /api/workflows/{workflow}/approve',
  ],
  reject: ['POST /api/outputs/{id}/reject', 'POST /api/requests/{id}/refuse'],
  permissions: ['GET /api/workflows/{workflow}/permissions'],
  allow: ['POST /api/workflows/{workflow}/permissions'],
  disallow: ['POST /api/workflows/{workflow}/permissions/take'],
  'skip-pending': ['POST /api/workflows/{workflow}/skip-pending'],
  show: ['GET /api/show/{id}'],
  explain: ['GET /api/explain/{id}'],
  state: ['GET /api/workflows/{workflow}/state', 'PUT /api/workflows/{workflow}/state/{handler}'],
  connections: ['GET /api/connections'],
  'connections test': ['POST /api/connections/{name}/test'],
  'connections cure': ['POST /api/connections/{name}/cure'],
  workflows: ['GET /api/workflows'],
  versions: ['GET /api/workflows/{workflow}/versions'],
  sessions: ['GET /api/workflows/{workflow}/sessions'],
  runs: ['GET /api/workflows/{workflow}/runs'],
  events: ['GET /api/workflows/{workflow}/events'],
  inputs: ['GET /api/workflows/{workflow}/inputs'],
  outputs: ['GET /api/workflows/{workflow}/outputs'],
  logs: ['GET /api/workflows/{workflow}/logs'],
  channels: ['GET /api/channels'],
  'channels test': ['POST /api/channels/{name}/test'],
  notices: ['GET /api/notices'],
  login: ['POST /api/login-links'],
  token: here('its verbs ask'),
  'token create': ['POST /api/tokens'],
  'token list': ['GET /api/tokens'],
  'token revoke': ['POST /api/tokens/{id}/revoke'],
  secret: here('its verbs ask'),
  'secret set': ['PUT /api/secrets/{name}'],
  'secret list': ['GET /api/secrets'],
  'secret remove': ['POST /api/secrets/{name}/remove'],
  'secret rotate-key': ['POST /api/rotate-key'],
  audit: ['GET /api/audit'],
  'audit verify': ['GET /api/audit/verify'],
};

/** The commands that the help of a command names, without other names for the same. */
async function commandsOf(...argv: string[]): Promise<string[]> {
  const { out } = await type(['help', ...argv]);
  const names = [...out.matchAll(/^ {2}([a-z][a-z-]*)(?:\|[a-z-]+)?(?= )/gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'help').map((name) => [...argv, name].join(' '));
}

async function allCommands(): Promise<string[]> {
  const top = await commandsOf();
  const below = await Promise.all(top.map((name) => commandsOf(name)));
  return [...top, ...below.flat()];
}

test('every command is one of the API, or says why it asks nothing of an engine', async () => {
  assert.deepEqual((await allCommands()).sort(), Object.keys(COMMANDS).sort());
  const routes = ROUTES.map(({ method, path }) => `${method} ${path}`);
  for (const [command, asks] of Object.entries(COMMANDS)) {
    if ('why' in asks) continue;
    for (const route of asks) assert.ok(routes.includes(route), `${command} asks for ${route}`);
  }
});

test('every command is told of in its page', async () => {
  const words = readFileSync(DOCS, 'utf8');
  for (const command of await allCommands()) {
    const name = new RegExp(
      `(?:\`|pawl |, |^)${command}\\b|\`${command.split(' ')[0]}\`[^\\n]*\`?${command.split(' ').at(-1)}`,
      'm',
    );
    assert.match(words, name, `docs/cli.md tells of ${command}`);
  }
});
