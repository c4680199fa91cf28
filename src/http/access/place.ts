import { isIP } from 'node:net';
import { z } from 'zod';
import { PawlError } from '#base';
import type { Retyped } from '../cannot-listen.ts';

/** Where the engine is reached: the names it answers to, and the origin its own pages have. */
export interface Place {
  /** Where it listens. */
  readonly address: string;
  readonly isRemote: boolean;
  /** The address for whoever is on this machine. */
  url(port: number): string;
  /** The address for people, wherever they are: for links. */
  publicUrl(port: number): string;
  isHost(host: string, port: number): boolean;
  isOrigin(origin: string, port: number): boolean;
  readonly isSecure: boolean;
}

const LOOPBACK = '127.0.0.1';
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const HTTP_CONFIG = z.strictObject({
  /** How people reach the engine from elsewhere, through a proxy that speaks TLS. */
  publicUrl: z.string().max(500).optional(),
});

/** Only this machine, unless the config says how others reach the engine and somebody asked for it on the command line. */
export function placeOf(listen: string | undefined, config: unknown, retyped: Retyped): Place {
  const parsed = HTTP_CONFIG.safeParse(config ?? {});
  if (!parsed.success)
    throw invalid(parsed.error.issues.map(({ path, message }) => `http.${path.join('.')}: ${message}`));
  const published = parsed.data.publicUrl === undefined ? undefined : publicUrlOf(parsed.data.publicUrl);
  const address = listen ?? LOOPBACK;
  const isRemote = !isLoopback(address);
  if (isRemote && !published) throw notConfigured(address, retyped);
  const reached = isRemote && !isAny(address) ? hostOf(address) : LOOPBACK;
  const names = [...new Set([...LOOPBACK_NAMES, reached])];
  return {
    address,
    isRemote,
    url: (port) => `http://${reached}:${port}`,
    publicUrl: (port) => published?.origin ?? `http://${reached}:${port}`,
    isHost: (host, port) =>
      host === published?.host || names.some((name) => host === `${name}:${port}` || (port === 80 && host === name)),
    isOrigin: (origin, port) =>
      origin === published?.origin || names.some((name) => origin === new URL(`http://${name}:${port}`).origin),
    isSecure: published?.protocol === 'https:',
  };
}

function publicUrlOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw invalid([`http.publicUrl: "${text}" is no origin such as https://pawl.example.com`]);
  }
  if (url.username !== '' || url.password !== '') throw invalid(['http.publicUrl: it must not hold a password']);
  if (url.protocol === 'http:' && !LOOPBACK_NAMES.includes(url.hostname)) {
    throw invalid([`http.publicUrl: "${text}" would send tokens in the clear; put a proxy with TLS in front`]);
  }
  return url;
}

function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127\./.test(address);
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function hostOf(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address;
}

function invalid(problems: readonly string[]): PawlError {
  return new PawlError({
    code: 'config-invalid',
    message: `the config cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    why: 'whoever reaches the engine must be somebody it was meant for',
    next: [{ label: 'correct http in the config and start again' }],
  });
}

function notConfigured(address: string, { hereOnly }: Retyped): PawlError {
  return new PawlError({
    code: 'not-safe',
    message: `the engine does not listen on ${address}`,
    why: 'others than this machine could reach it, and the config does not say how',
    next: [
      { label: "add http: { publicUrl: 'https://…' } to the config: the address of a proxy that speaks TLS" },
      { label: 'or leave --listen out: then only this machine reaches it', argv: hereOnly },
    ],
  });
}
