import { NotDoneError, notDone } from '../outcome.ts';
import type { CallSecrets, SecretReference } from '../secrets.ts';
import type { MutationArguments, Parameters, ReadArguments } from './arguments.ts';
import type { HttpConfig } from './config.ts';
import type { Request } from './exchange.ts';
import { headerValue, isSensitive } from './header.ts';

const USER_AGENT = 'pawl';
const PREVIEW_LENGTH_MAX = 16 * 1024;

/** A header as it is written, and as people may see it. */
interface Header {
  readonly name: string;
  readonly value: string;
  readonly shown: string;
}

interface Body {
  readonly type: string;
  readonly text: () => string;
  readonly shown: () => string;
}

function urlOf({ baseUrl }: HttpConfig, { path, query }: ReadArguments): URL {
  const asked = path.indexOf('?');
  // A path begins with one "/" and holds nothing that could end it: it is read as it would be set.
  const url = new URL(baseUrl.origin + baseUrl.prefix + (asked === -1 ? path : path.slice(0, asked)));
  if (asked !== -1) url.search = path.slice(asked + 1);
  if (query !== undefined) for (const [name, value] of parametersOf(query)) url.searchParams.append(name, value);
  return url;
}

export async function buildRequest(
  config: HttpConfig,
  method: string,
  args: MutationArguments,
  secrets: CallSecrets,
  idempotencyKey?: string,
): Promise<Request> {
  const body = bodyOf(args);
  const own = ownHeaders(config, args, body, idempotencyKey);
  const operator = await operatorHeaders(config, secrets);
  return {
    method,
    url: urlOf(config, args),
    headers: Object.fromEntries([...own, ...operator].map(({ name, value }) => [name.toLowerCase(), value])),
    body: body === undefined ? undefined : Buffer.from(body.text()),
  };
}

/** The call as it will be sent, for people. No secret is read to make it. */
export function previewOf(config: HttpConfig, method: string, args: MutationArguments): string {
  const body = bodyOf(args);
  const headers = new Map(
    [...ownHeaders(config, args, body, '(made from the events and the call)'), ...shownOperatorHeaders(config)].map(
      ({ name, shown }) => [name.toLowerCase(), `${name}: ${shown}`],
    ),
  );
  headers.delete('user-agent');
  const lines = [`${method} ${urlOf(config, args)}`, ...headers.values()];
  return shorten([...lines, ...(body === undefined ? [] : ['', body.shown()])].join('\n'));
}

/** The script's headers and ours. The operator's come after, so that a script cannot replace them. */
function ownHeaders(
  { idempotencyHeader }: HttpConfig,
  args: MutationArguments,
  body: Body | undefined,
  idempotencyKey: string | undefined,
): Header[] {
  const given = Object.entries(args.headers ?? {}).map(([name, value]) => ({
    name,
    value,
    shown: isSensitive(name) ? '[hidden]' : value,
  }));
  return [
    plain('User-Agent', USER_AGENT),
    plain('Accept-Encoding', 'identity'),
    ...(body === undefined ? [] : [plain('Content-Type', body.type)]),
    ...given,
    ...(idempotencyHeader === false || idempotencyKey === undefined ? [] : [plain(idempotencyHeader, idempotencyKey)]),
  ];
}

async function operatorHeaders({ headers, auth }: HttpConfig, secrets: CallSecrets): Promise<Header[]> {
  const made: Header[] = [];
  for (const [name, value] of Object.entries(headers)) {
    made.push(plain(name, typeof value === 'string' ? value : await revealForHeader(secrets, value)));
  }
  if (auth === undefined) return made;
  if ('bearer' in auth) {
    return [...made, plain('Authorization', `Bearer ${await revealForHeader(secrets, auth.bearer)}`)];
  }
  const credential = Buffer.from(`${auth.user}:${await secrets.reveal(auth.password)}`).toString('base64');
  secrets.note(auth.password.secret, credential);
  return [...made, plain('Authorization', `Basic ${credential}`)];
}

async function revealForHeader(secrets: CallSecrets, reference: SecretReference): Promise<string> {
  const value = await secrets.reveal(reference);
  if (headerValue.safeParse(value).success) return value;
  throw new NotDoneError(
    notDone('auth', `the secret "${reference.secret}" holds a line break or another character no header can carry`),
  );
}

function shownOperatorHeaders({ headers, auth }: HttpConfig): Header[] {
  const shown = Object.entries(headers).map(([name, value]) => {
    if (typeof value !== 'string') return plain(name, `[secret ${value.secret}]`);
    return plain(name, isSensitive(name) ? '[hidden]' : value);
  });
  if (auth === undefined) return shown;
  const text =
    'bearer' in auth ? `Bearer [secret ${auth.bearer.secret}]` : `Basic ${auth.user}:[secret ${auth.password.secret}]`;
  return [...shown, plain('Authorization', text)];
}

function plain(name: string, value: string): Header {
  return { name, value, shown: value };
}

function bodyOf({ json, form, text }: MutationArguments): Body | undefined {
  if (json !== undefined) {
    const text = () => JSON.stringify(json);
    return { type: 'application/json', text, shown: () => JSON.stringify(json, null, 2) };
  }
  if (form !== undefined) {
    const parameters = parametersOf(form);
    return {
      type: 'application/x-www-form-urlencoded',
      text: () => new URLSearchParams(parameters).toString(),
      shown: () => parameters.map(([name, value]) => `${name} = ${value}`).join('\n'),
    };
  }
  return text === undefined ? undefined : { type: 'text/plain; charset=utf-8', text: () => text, shown: () => text };
}

function parametersOf(parameters: Parameters): [string, string][] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item): [string, string] => [name, `${item}`]),
  );
}

function shorten(text: string): string {
  if (text.length <= PREVIEW_LENGTH_MAX) return text;
  return `${text.slice(0, PREVIEW_LENGTH_MAX)}\n… and ${text.length - PREVIEW_LENGTH_MAX} more characters`;
}
