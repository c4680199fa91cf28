import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROUTES } from '#http';

// Whatever the API can do somebody can do in the console: by a button of its own, or by one that a card of the engine brings along.

const ROOT = dirname(dirname(import.meta.dirname));

/** What is done elsewhere, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'POST /api/deploy': 'scripts are bundled where their files are',
  'POST /api/validate': 'scripts are checked where their files are',
  'POST /api/login-links': 'whoever is in needs no link',
  'POST /hooks/{workflow}/{hook}': 'for senders of webhooks',
};

function textOf(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && entry.name !== 'api-types.ts')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

/** `POST /api/events/${verb}` is one for each verb that is named beside it. */
function verbsIn(text: string, type: string): readonly string[] {
  const [, union = ''] = new RegExp(`type ${type} = ([^;]+);`).exec(text) ?? [];
  return [...union.matchAll(/'(\w+)'/g)].map(([, verb = '']) => verb);
}

test('every act of the API has its place in the console', () => {
  const pages = textOf('console/src');
  const cards = ['choices.ts', 'requests.ts']
    .map((file) => readFileSync(join(ROOT, 'src/story', file), 'utf8'))
    .join('\n');
  const pressed = new Set([...pages.matchAll(/(?:POST|PUT) \/(?:api|hooks)[^'"`\s]*/g)].map(([asks]) => asks));
  const offered = [...cards.matchAll(/`(\/api\/[^`]+)`/g)].map(([, path = '']) => path);
  const ofWorkflow = [...cards.matchAll(/workflowAct\(workflow, '(\w+)'\)/g)].map(([, verb]) => verb);
  const acts = readFileSync(join(ROOT, 'console/src/parts/workflow-acts.tsx'), 'utf8');
  const workers = readFileSync(join(ROOT, 'console/src/parts/worker-acts.tsx'), 'utf8');
  const events = readFileSync(join(ROOT, 'console/src/parts/event-acts.tsx'), 'utf8');

  const isOffered = (path: string): boolean =>
    offered.some(
      (each) =>
        new RegExp(`^${each.replaceAll(/\$\{[^}]*\}+/g, '[^/]+').replaceAll('.', '\\.')}$`).test(path) &&
        !/\$\{verb\}$/.test(each),
    );
  for (const { method, path } of ROUTES) {
    if (method === 'GET') continue;
    const name = `${method} ${path}`;
    if (name in ELSEWHERE) continue;
    const verb = path.split('/').at(-1) ?? '';
    const isThere =
      pressed.has(name) ||
      isOffered(path) ||
      (path === `/api/workflows/{workflow}/${verb}` &&
        (verbsIn(acts, 'Verb').includes(verb) || ofWorkflow.includes(verb))) ||
      (path === `/api/events/${verb}` && verbsIn(events, 'Verb').includes(verb)) ||
      (path === `/api/workers/{worker}/${verb}` && verbsIn(workers, 'Verb').includes(verb));
    assert.ok(isThere, `${name} cannot be done in the console`);
  }
  for (const name of Object.keys(ELSEWHERE)) assert.ok(!pressed.has(name), `${name} is in the console after all`);
});
