// The outside world as a process of its own: does what it is asked, writes it down and syncs it before it answers, and answers as it
// likes. It never looks whether it did the same before: that is what the judge is for. `effect-server.ts LOG SEED`.

import { fsyncSync, openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Chance } from '../chance.ts';
import type { Effect, Mode, Weights } from '../effect-log.ts';

const [, , log, seed] = process.argv;
if (log === undefined) throw new Error('usage: effect-server.ts LOG SEED');
const file = openSync(log, 'a');
const chance = new Chance(Number(seed));
const DELAY_MS_MAX = 250;

let weights: Weights = { answer: 1 };
const done = new Map<string, Effect>();
const feeds = new Map<string, { readonly seq: number; readonly id: string }[]>();

function keep(effect: Effect): void {
  writeSync(file, `${JSON.stringify(effect)}\n`);
  fsyncSync(file);
  done.set(effect.key, effect);
}

async function act(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrivedAt = Date.now();
  const mode = chance.weighted(weights);
  const { workflow, effect, ids } = JSON.parse(await textOf(request)) as Effect;
  const key = String(request.headers['idempotency-key']);
  if (mode === 'lose') return void request.socket.destroy();
  if (mode === 'busy') return answer(response, 429, { error: 'later, please' });
  if (mode === 'delay') await pause();
  keep({ at: Date.now(), arrivedAt, key, mode, workflow, effect, ids });
  if (mode === 'linger') await pause();
  finish(mode, request, response, key);
}

function finish(mode: Mode, request: IncomingMessage, response: ServerResponse, key: string): void {
  if (mode === 'hang') return;
  if (mode === 'drop') request.socket.destroy();
  else if (mode === 'error') answer(response, 500, { error: 'something broke afterwards' });
  else answer(response, 201, { key });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, chance.below(DELAY_MS_MAX)));
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://service');
  const route = `${request.method} ${url.pathname}`;
  const ROUTES: Readonly<Record<string, () => Promise<void> | void>> = {
    'POST /effects': () => act(request, response),
    'GET /effects': () => {
      const found = done.get(url.searchParams.get('key') ?? '');
      answer(response, 200, { items: found ? [found] : [] });
    },
    'GET /feed': () => {
      const after = Number(url.searchParams.get('after'));
      const items = feeds.get(url.searchParams.get('workflow') ?? '') ?? [];
      answer(response, 200, { items: items.filter(({ seq }) => seq > after) });
    },
    'POST /feed': async () => {
      const { workflow, id } = JSON.parse(await textOf(request)) as { workflow: string; id: string };
      const items = feeds.get(workflow) ?? [];
      items.push({ seq: items.length + 1, id });
      feeds.set(workflow, items);
      answer(response, 200, {});
    },
    'PUT /weights': async () => {
      weights = JSON.parse(await textOf(request)) as Weights;
      answer(response, 200, {});
    },
  };
  const found = ROUTES[route];
  if (!found) return answer(response, 404, { error: `there is no ${route}` });
  // Whoever was killed while it spoke left half a request: nothing was asked.
  Promise.resolve(found()).catch(() => request.socket.destroy());
});

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
// Whoever started it holds the other end: when that process is gone, however it went, so is this one.
process.stdin.once('close', () => process.exit(0)).resume();
