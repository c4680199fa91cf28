import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import type { App } from '#app';
import { ROUTES, type Served, serve } from '#http';
import { type Calls, compileScript } from '#script';
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
    shop: Parameters<typeof Stage.open>[1] = {},
    { config = {}, ...changed }: { config?: Record<string, unknown> } & Partial<Pick<App, 'secret' | 'isShared'>> = {},
  ): Promise<Api> {
    const stage = await Stage.open(t, shop, { config });
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
    const told = await answer.json();
    assertDeclared(method, path, answer, told);
    return { status: answer.status, body: told };
  }

  /** What the command line sends for a script. */
  async bundled(
    script: string,
  ): Promise<{ name: string; code: string; sourceMap: string; contentHash: string; calls: Calls }> {
    const file = join(this.stage.folder, 'orders.ts');
    writeFileSync(file, `import { defineWorkflow, topic } from 'pawl';\n${script}`);
    const { name, code, sourceMap, contentHash, calls } = await compileScript({
      file,
      describe: (text) => this.stage.app.sandbox.describe(text),
      connectors: this.stage.app.connections.describe().connectors,
    });
    return { name, code, sourceMap, contentHash, calls };
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
    assert.deepEqual([answer.status, answer.body.code], [status, code], JSON.stringify(answer.body));
    assert.equal(answer.body.status, status);
    assert.deepEqual(problem.parse(answer.body), answer.body);
    return answer.body;
  }
}

/** The shape of every problem, as the document tells it. */
const problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  why: z.string(),
  retryable: z.boolean(),
  ids: z.record(z.string(), z.string()),
  next: z.array(z.strictObject({ label: z.string(), argv: z.array(z.string()).optional() })),
  docs: z.string(),
  notBefore: z.int().optional(),
  findings: z.array(z.unknown()).optional(),
});

/** Every answer of every test is what its route declares, no field more and none less. */
function assertDeclared(method: string, path: string, answer: Response, told: Json): void {
  const type = answer.headers.get('content-type')?.split(';')[0];
  if (!answer.ok) {
    assert.equal(type, 'application/problem+json', path);
    return;
  }
  assert.equal(type, 'application/json', path);
  const route = routeOf(method, path);
  if (!route?.answer) return;
  const { schema, ...rest } = told;
  assert.equal(schema, 1);
  const checked = route.answer.safeParse(rest);
  assert.ok(checked.success, `${method} ${path} answers otherwise than declared: ${checked.error?.message}`);
}

function routeOf(method: string, path: string): (typeof ROUTES)[number] | undefined {
  const [bare = ''] = path.split('?');
  const fits = (each: (typeof ROUTES)[number]): boolean =>
    new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare) && each.method === method;
  return ROUTES.find((each) => fits(each) && !each.path.includes('{')) ?? ROUTES.find(fits);
}
