import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { LoopbackServer } from '../support/loopback-server.ts';

/** What a caller sent to get in, as the service saw it. */
function credentialsOf({ headers }: IncomingMessage): string[] {
  const { authorization = '', 'x-api-key': key = '' } = headers;
  const scheme = authorization.split(' ', 1)[0] ?? '';
  const credential = authorization.slice(scheme.length + 1);
  const password = scheme === 'Basic' ? Buffer.from(credential, 'base64').toString('utf8') : '';
  return [authorization, credential, password, `${key}`].filter((text) => text !== '');
}

/** How a service may give away what it was told, by the path that is asked for. */
const ECHOES: Readonly<Record<string, (told: string, response: ServerResponse) => void>> = {
  json: (told, response) =>
    send(response, 201, JSON.stringify({ told, [told]: 1, nested: [{ deep: `x${told}y` }] }), {
      'x-told': Buffer.from(told).toString('base64'),
      'x-told-plainly': encodeURIComponent(told),
      'set-cookie': `told=${encodeURIComponent(told)}`,
    }),
  text: (told, response) =>
    send(response, 201, `${told} ${encodeURIComponent(told)} ${new URLSearchParams({ told })}`, {
      'content-type': 'text/plain',
    }),
  base64: (told, response) =>
    send(response, 201, JSON.stringify({ told: Buffer.from(`ab${told}`).toString('base64') })),
  hex: (told, response) => send(response, 201, JSON.stringify({ told: Buffer.from(told).toString('hex') })),
  binary: (told, response) =>
    send(response, 201, Buffer.concat([Buffer.from([0xff, 0xfe, 0x00]), Buffer.from(told), Buffer.from([0xff])]), {
      'content-type': 'application/octet-stream',
    }),
  gzip: (told, response) => send(response, 201, gzipSync(JSON.stringify({ told })), { 'content-encoding': 'gzip' }),
  refused: (told, response) => send(response, 422, `no: ${told}`, { 'content-type': 'text/plain' }),
  // Around the place where an error message is cut, and where blanks are folded.
  cut: (told, response) => send(response, 422, `${'x'.repeat(275)} ${told}`, { 'content-type': 'text/plain' }),
  folded: (told, response) => send(response, 422, `${' \n'.repeat(585)} ${told}`, { 'content-type': 'text/plain' }),
  broken: (told, response) => send(response, 500, `it broke: ${told}`, { 'content-type': 'text/plain' }),
  hangs: (_told, response) => response.destroy(),
};

export const ECHO_KINDS = Object.keys(ECHOES);

function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** A service that tells everybody what it was told. */
export class EchoShop extends LoopbackServer {
  readonly heard: string[] = [];

  constructor() {
    super();
    this.server.on('request', (request, response) => {
      const told = credentialsOf(request).join('|');
      this.heard.push(`${request.method} ${request.url}: ${told}`);
      const kind = request.url?.split('/')[1] ?? '';
      request.resume().once('end', () => (ECHOES[kind] ?? ECHOES.json)?.(told, response));
    });
  }

  static open(): Promise<EchoShop> {
    return new EchoShop().listen();
  }
}
