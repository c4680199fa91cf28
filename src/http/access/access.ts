import { createHmac, randomBytes } from 'node:crypto';
import { type Clock, sha256 } from '#base';
import type { Engine } from '#execution';
import { TOKEN_SCOPES, type Token, type TokenScope } from '#model';
import type { Asker } from './asker.ts';
import { isOwnerToken } from './owner-token.ts';

const SECRET_BYTES = 32;
const SECRET_PREFIX = 'pawl_';
const DAY = 24 * 3_600_000;
const TOKEN_MS_DEFAULT = 90 * DAY;
/** A working day: whoever comes back tomorrow logs in again. */
const SESSION_MS = 12 * 3_600_000;
const LINK_MS = 10 * 60_000;
/** Links that wait to be opened; a new one takes the place of the oldest. */
const LINKS_MAX = 100;

export interface AccessOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ownerToken: string;
}

export interface OpenedSession {
  readonly asker: Asker;
  /** For the cookie. */
  readonly secret: string;
  /** For the page: a cookie without it reads nothing. */
  readonly csrf: string;
  readonly expiresAt: number;
}

interface Link {
  readonly asker: Asker;
  readonly until: number;
}

/** Who may do what: tokens, the sessions of the console they open, and links that open one once. */
export class Access {
  readonly #options: AccessOptions;
  readonly #links = new Map<string, Link>();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Whoever sends this secret in the header; undefined when nobody is known by it. */
  async byBearer(secret: string, name: string): Promise<Asker | undefined> {
    const { ownerToken } = this.#options;
    if (isOwnerToken(secret, ownerToken)) return ownerNamed(name);
    const token = await this.#living(secret);
    return token?.kind === 'token' ? askerOf(token) : undefined;
  }

  /** Whoever has this session: a cookie alone is not enough, as it is sent to every port of this host. */
  async bySession(secret: string): Promise<Asker | undefined> {
    const token = await this.#living(secret);
    return token?.kind === 'session' ? askerOf(token) : undefined;
  }

  csrfOf(secret: string): string {
    return createHmac('sha256', this.#options.ownerToken)
      .update(`csrf ${sha256(secret)}`)
      .digest('hex');
  }

  async createToken(
    given: { name: string; scopes: readonly TokenScope[]; expiresInMs?: number | undefined },
    by: string,
  ) {
    const { engine, clock } = this.#options;
    const secret = newSecret();
    const expiresAt = clock.now() + (given.expiresInMs ?? TOKEN_MS_DEFAULT);
    const { name, scopes } = given;
    const { token } = await engine.manager.createToken({
      kind: 'token',
      name,
      scopes,
      hash: sha256(secret),
      expiresAt,
      by,
    });
    return { token, secret, expiresAt };
  }

  /** A session of the console for whoever this is. */
  async openSession(of: Asker): Promise<OpenedSession> {
    const { engine, clock } = this.#options;
    const secret = newSecret();
    const { token } = await engine.manager.createToken({
      kind: 'session',
      name: of.by,
      scopes: of.scopes,
      hash: sha256(secret),
      expiresAt: clock.now() + SESSION_MS,
      ...(of.token !== null && { parent: of.token }),
      by: of.by,
    });
    const [row] = await engine.reader.fetch('token', token);
    const expiresAt = row?.expiresAt ?? clock.now();
    const asker: Asker = { ...of, kind: 'session', token, expiresAt };
    return { asker, secret, csrf: this.csrfOf(secret), expiresAt };
  }

  /** What stands in a link that logs its opener in, once and soon. */
  newLink(asker: Asker): { code: string; expiresAt: number } {
    const now = this.#options.clock.now();
    for (const [hash, { until }] of this.#links) if (until <= now) this.#links.delete(hash);
    const [oldest] = this.#links.keys();
    if (this.#links.size >= LINKS_MAX && oldest !== undefined) this.#links.delete(oldest);
    const code = randomBytes(SECRET_BYTES).toString('base64url');
    const until = now + LINK_MS;
    this.#links.set(sha256(code), { asker, until });
    return { code, expiresAt: until };
  }

  /** The link is used up, whatever comes of it. */
  byLink(code: string): Asker | undefined {
    const hash = sha256(code);
    const link = this.#links.get(hash);
    this.#links.delete(hash);
    return link && link.until > this.#options.clock.now() ? link.asker : undefined;
  }

  /** Somebody besides the owner of the data folder can get in. */
  async hasTokens(): Promise<boolean> {
    const { engine, clock } = this.#options;
    const isGood = (token: Token): boolean => token.revokedAt === null && token.expiresAt > clock.now();
    return (await engine.history.tokens({ limit: 1_000 })).some((token) => token.kind === 'token' && isGood(token));
  }

  async #living(secret: string): Promise<Token | undefined> {
    const { engine, clock } = this.#options;
    const [token] = await engine.reader.fetch('tokenHashed', sha256(secret));
    const [parent] = token?.parentId ? await engine.reader.fetch('token', token.parentId) : [];
    const isGood = (row: Token): boolean => row.revokedAt === null && row.expiresAt > clock.now();
    return token && isGood(token) && (!parent || isGood(parent)) ? token : undefined;
  }
}

export function ownerNamed(name: string): Asker {
  return { by: name, scopes: TOKEN_SCOPES, kind: 'owner', token: null, expiresAt: null };
}

function askerOf({ id, name, scopes, kind, expiresAt }: Token): Asker {
  return { by: name, scopes, kind, token: id, expiresAt };
}

function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}
