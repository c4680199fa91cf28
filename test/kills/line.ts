import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOOK_SECRET, type Version, type World } from './world.ts';

/** What became of a request to an engine that may die at any moment. */
export type Heard =
  /** It answered with a 2xx: what was asked is durable. */
  | { readonly kind: 'yes'; readonly body: unknown }
  /** It is dead, or died before it answered: nobody knows, so it is asked again. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'no'; readonly status: number; readonly body: unknown };

const ANSWER_MS_MAX = 10_000;

/** A line to the engine of a world, as another program has it. */
export class Line {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, { data }: World) {
    this.#url = url;
    this.#token = readFileSync(join(data, 'token'), 'utf8').trim();
  }

  publish(workflow: string, id: string): Promise<Heard> {
    const events = [{ topic: 'placed', messageId: id, payload: { id } }];
    return this.#post(`/api/workflows/${workflow}/publish`, JSON.stringify({ events }), this.#authorized());
  }

  deploy(version: Version): Promise<Heard> {
    return this.#post('/api/deploy', JSON.stringify(version), this.#authorized());
  }

  /** Signed as Standard Webhooks say; the id names the delivery however often it comes. */
  deliver(workflow: string, id: string): Promise<Heard> {
    const body = JSON.stringify({ id });
    const timestamp = Math.floor(Date.now() / 1_000);
    const signature = createHmac('sha256', HOOK_SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
    return this.#post(`/hooks/${workflow}/hook`, body, {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    });
  }

  #authorized(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}`, 'x-pawl-by': 'sender' };
  }

  async #post(path: string, body: string, headers: Record<string, string>): Promise<Heard> {
    try {
      const answer = await fetch(this.#url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      const said: unknown = await answer.json();
      return answer.ok ? { kind: 'yes', body: said } : { kind: 'no', status: answer.status, body: said };
    } catch {
      return { kind: 'silence' };
    }
  }
}
