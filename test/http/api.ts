import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { App } from '#app';
import { type Served, serve } from '#http';
import { compileScript } from '#script';
import { Stage } from '../e2e/stage.ts';

// The JSON of an answer: tests look into it as any client would.
// biome-ignore lint/suspicious/noExplicitAny: the shape of each answer is what the tests are about
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** A whole engine behind its API, and a client that has its token. */
export class Api {
  readonly stage: Stage;
  readonly url: string;
  readonly token: string;

  private constructor(stage: Stage, { url }: Served, token: string) {
    this.stage = stage;
    this.url = url;
    this.token = token;
  }

  static async open(
    t: TestContext,
    options: Parameters<typeof Stage.open>[1] = {},
    changed: Partial<App> = {},
  ): Promise<Api> {
    const stage = await Stage.open(t, options);
    const dataDir = join(stage.folder, 'data');
    const bugs: unknown[] = [];
    const served = await serve(
      { ...stage.app, ...changed },
      { port: 0, dataDir, onError: (error) => bugs.push(error) },
    );
    t.after(async () => {
      await served.close();
      assert.deepEqual(bugs, [], 'no request met a bug');
    });
    return new Api(stage, served, readFileSync(join(dataDir, 'token'), 'utf8').trim());
  }

  get(path: string): Promise<Answer> {
    return this.ask('GET', path);
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.ask('POST', path, body);
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        'x-pawl-by': 'ada',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  /** What the command line sends for a script. */
  async bundled(script: string): Promise<{ name: string; code: string; sourceMap: string; contentHash: string }> {
    const file = join(this.stage.folder, 'orders.ts');
    writeFileSync(file, `import { defineWorkflow, topic } from 'pawl';\n${script}`);
    const { name, code, sourceMap, contentHash } = await compileScript({
      file,
      describe: (text) => this.stage.app.sandbox.describe(text),
      connectors: this.stage.app.connections.describe().connectors,
    });
    return { name, code, sourceMap, contentHash };
  }

  /** Through the API, as the command line does it. */
  async deploy(script: string, options: object = {}): Promise<Json> {
    return this.ok(this.post('/api/deploy', { ...(await this.bundled(script)), ...options }));
  }

  async publish(workflow: string, ...ids: string[]): Promise<string[]> {
    const events = ids.map((id) => ({ topic: 'placed', messageId: id, payload: { id }, title: `Order ${id}` }));
    return (await this.ok(this.post(`/api/workflows/${workflow}/publish`, { events }))).events;
  }

  async status(workflow = 'orders'): Promise<Json> {
    const { items } = await this.ok(this.get('/api/status'));
    return items.find((item: Json) => item.name === workflow);
  }

  async needs(): Promise<Json[]> {
    return (await this.ok(this.get('/api/needs'))).items;
  }

  /** What a good answer says. */
  async ok(asked: Promise<Answer>): Promise<Json> {
    const { status, body } = await asked;
    assert.ok(status < 300, `${status}: ${JSON.stringify(body)}`);
    assert.equal(body.schema, 1);
    return body;
  }

  /** What an error says: always the same fields. */
  async refused(asked: Promise<Answer>, status: number, code: string): Promise<Json> {
    const answer = await asked;
    assert.deepEqual([answer.status, answer.body.error?.code], [status, code], JSON.stringify(answer.body));
    const { message, why, retryable, ids, docs, next } = answer.body.error;
    assert.deepEqual(
      [message, why, retryable, ids, docs, next].map((field) => typeof field),
      ['string', 'string', 'boolean', 'object', 'string', 'object'],
    );
    assert.ok(next.every((step: Json) => typeof step.label === 'string'));
    return answer.body.error;
  }
}
