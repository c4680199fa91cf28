import type { Phase } from './protocol.ts';
import type { HostCallName } from './request.ts';

/** Which host calls each phase may make. The prelude says so early and with a position; the host decides by this table. */
const ALLOWED: Readonly<Record<Phase, readonly HostCallName[]>> = {
  describe: [],
  producer: ['read', 'publish', 'registerInput', 'log'],
  prepare: ['peek', 'getByIds', 'read', 'log'],
  mutate: ['log'],
  next: ['publish', 'log'],
};

const AWAITED: readonly HostCallName[] = ['peek', 'getByIds', 'read'];

const NAMES: readonly HostCallName[] = ['peek', 'getByIds', 'publish', 'registerInput', 'log', 'read'];

export function hostCallName(text: string): HostCallName | undefined {
  return NAMES.find((name) => name === text);
}

export function isAllowed(phase: Phase, name: HostCallName): boolean {
  return ALLOWED[phase].includes(name);
}

export function isAwaited(name: HostCallName): boolean {
  return AWAITED.includes(name);
}
