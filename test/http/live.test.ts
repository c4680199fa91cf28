import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Api, type Json } from './api.ts';
import { GIVEN } from './scripts.ts';

const PATIENCE_MS = 30_000;

interface Told {
  readonly id: string;
  readonly event: string;
  readonly data: Json;
}

/** A page that looks on, as a browser does. */
class Onlooker {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #leave: AbortController;
  #text = '';

  private constructor(reader: ReadableStreamDefaultReader<string>, leave: AbortController) {
    this.#reader = reader;
    this.#leave = leave;
  }

  static async open(t: TestContext, api: Api, last?: string): Promise<Onlooker> {
    const leave = new AbortController();
    t.after(() => leave.abort());
    const answer = await fetch(`${api.url}/api/live`, {
      headers: { authorization: `Bearer ${api.token}`, ...(last !== undefined && { 'last-event-id': last }) },
      signal: leave.signal,
    });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.ok(answer.body);
    return new Onlooker(answer.body.pipeThrough(new TextDecoderStream()).getReader(), leave);
  }

  /** The next event, comments left out. */
  async next(): Promise<Told> {
    const timer = setTimeout(() => this.leave(), PATIENCE_MS);
    try {
      for (;;) {
        const end = this.#text.indexOf('\n\n');
        if (end >= 0) {
          const lines = this.#text.slice(0, end).split('\n');
          this.#text = this.#text.slice(end + 2);
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          const event = field('event');
          if (event !== undefined) return { id: field('id') ?? '', event, data: JSON.parse(field('data') ?? '') };
          continue;
        }
        const { value, done } = await this.#reader.read();
        if (done) return { id: '', event: 'end', data: null };
        this.#text += value;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for a change of this kind. */
  async until(kind: string): Promise<Told> {
    for (;;) {
      const told = await this.next();
      if (told.event !== 'change') assert.fail(`${told.event} came before a change of ${kind}`);
      if (told.data.changes.some((change: Json) => change.kind === kind)) return told;
    }
  }

  leave(): void {
    this.#leave.abort();
  }
}

test('whoever looks on is told what changed, by keys alone', async (t) => {
  const api = await Api.open(t);
  const page = await Onlooker.open(t, api);
  assert.equal((await page.next()).event, 'hello');
  const { workflow } = await api.deploy(GIVEN);
  const { data } = await page.until('workflow');
  assert.ok(data.changes.some((change: Json) => change.id === workflow));
  for (const change of data.changes) assert.deepEqual(Object.keys(change).sort(), ['id', 'kind']);
  await api.publish('orders', 'o1');
  assert.match((await page.until('mutation')).data.changes.find((each: Json) => each.kind === 'mutation').id, /^mut_/);
});

test('whoever comes back gets what was missed, and no more', async (t) => {
  const api = await Api.open(t);
  const page = await Onlooker.open(t, api);
  await page.next();
  await api.deploy(GIVEN);
  const seen = await page.until('workflow');
  page.leave();
  await api.stage.quiet();
  await api.ok(api.post('/api/workflows/orders/pause'));
  const again = await Onlooker.open(t, api, seen.id);
  const missed = await again.until('audit');
  assert.ok(missed.id > seen.id || missed.id.length > seen.id.length);
});

test('whoever missed too much, or comes from another incarnation, is told to read everything anew', async (t) => {
  const api = await Api.open(t);
  for (const last of ['nonsense', 'zzzz.1', '.', `${'9'.repeat(30)}`]) {
    const page = await Onlooker.open(t, api, last);
    assert.deepEqual([(await page.next()).event, last], ['reset', last]);
    page.leave();
  }
});

test('a great many changes at once are one reset', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.ok(api.post('/api/workflows/orders/pause'));
  const page = await Onlooker.open(t, api);
  await page.next();
  await api.publish('orders', ...Array.from({ length: 900 }, (_, i) => `o${i}`));
  const told = await page.next();
  assert.deepEqual([told.event, told.data], ['reset', {}]);
});

test('nobody looks on without a token', async (t) => {
  const api = await Api.open(t);
  const answer = await fetch(`${api.url}/api/live`);
  assert.equal(answer.status, 401);
});
