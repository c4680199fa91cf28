import { createHmac, timingSafeEqual } from 'node:crypto';

export type Verify = 'standard' | 'github' | 'stripe' | 'slack';

export interface ReceivedDelivery {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The very bytes that came, as text: a signature is over these. */
  readonly body: string;
}

/** A challenge is no delivery: the sender wants to hear it back, to know that somebody with the secret is at the address. */
export type Verified = { readonly deliveryId: string } | { readonly challenge: string } | { readonly refused: string };

/** A signature older than this may be a replay. */
const AGE_S_MAX = 300;

/** Is this delivery from whom it says, and which one is it? The secret never leaves this function's caller. */
export function verifyDelivery(how: Verify, delivery: ReceivedDelivery, secret: string, nowMs: number): Verified {
  switch (how) {
    case 'standard':
      return standard(delivery, secret, nowMs);
    case 'github':
      return github(delivery, secret);
    case 'stripe':
      return stripe(delivery, secret, nowMs);
    case 'slack':
      return slack(delivery, secret, nowMs);
  }
}

/** Standard Webhooks: `webhook-id`, `webhook-timestamp`, and one or more `v1,<base64>` signatures. */
function standard({ headers, body }: ReceivedDelivery, secret: string, nowMs: number): Verified {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!id || !timestamp || !signatures)
    return { refused: 'a Standard Webhooks delivery has webhook-id, webhook-timestamp and webhook-signature' };
  if (!isFresh(timestamp, nowMs)) return { refused: TOO_OLD };
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const given = signatures
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => part.slice(3));
  return given.some((signature) => isSame(signature, expected)) ? { deliveryId: id } : { refused: WRONG };
}

function github({ headers, body }: ReceivedDelivery, secret: string): Verified {
  const { 'x-hub-signature-256': signature, 'x-github-delivery': id } = headers;
  if (!id || !signature) return { refused: 'a GitHub delivery has x-github-delivery and x-hub-signature-256' };
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return isSame(signature, expected) ? { deliveryId: id } : { refused: WRONG };
}

function stripe({ headers, body }: ReceivedDelivery, secret: string, nowMs: number): Verified {
  const parts = (headers['stripe-signature'] ?? '').split(',').map((part) => part.trim().split('='));
  const timestamp = parts.find(([name]) => name === 't')?.[1];
  const signatures = parts.filter(([name]) => name === 'v1').map(([, value]) => value ?? '');
  if (!timestamp || signatures.length === 0) return { refused: 'a Stripe delivery has stripe-signature with t and v1' };
  if (!isFresh(timestamp, nowMs)) return { refused: TOO_OLD };
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  if (!signatures.some((signature) => isSame(signature, expected))) return { refused: WRONG };
  const id = wordIn(body, 'id');
  return id ? { deliveryId: id } : { refused: 'the body of a Stripe delivery has an id' };
}

function slack({ headers, body }: ReceivedDelivery, secret: string, nowMs: number): Verified {
  const { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': signature } = headers;
  if (!timestamp || !signature)
    return { refused: 'a Slack delivery has x-slack-request-timestamp and x-slack-signature' };
  if (!isFresh(timestamp, nowMs)) return { refused: TOO_OLD };
  const expected = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
  if (!isSame(signature, expected)) return { refused: WRONG };
  const challenge = wordIn(body, 'type') === 'url_verification' ? wordIn(body, 'challenge') : undefined;
  if (challenge !== undefined) return { challenge };
  // A request without an event of its own is told apart by what was signed.
  return { deliveryId: wordIn(body, 'event_id') ?? signature };
}

const WRONG = 'the signature does not fit: the secret differs, or the body was changed on the way';
const TOO_OLD = `the timestamp is more than ${AGE_S_MAX} seconds from now: a replay, or a clock that is wrong`;

function isFresh(timestamp: string, nowMs: number): boolean {
  const seconds = Number(timestamp);
  return Number.isFinite(seconds) && Math.abs(nowMs / 1_000 - seconds) <= AGE_S_MAX;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function wordIn(body: string, field: string): string | undefined {
  try {
    const value = (JSON.parse(body) as Record<string, unknown> | null)?.[field];
    return typeof value === 'string' && value !== '' ? value : undefined;
  } catch {
    return undefined;
  }
}
