// What each phase may do: the table of the guarantees, as the validator reads it. The host enforces the same.

export type CheckedPhase = 'producer' | 'prepare' | 'each prepare' | 'mutate' | 'next';

export const CTX_NAMES = ['peek', 'getByIds', 'take', 'idle', 'publish', 'registerInput', 'log'] as const;
export type CtxName = (typeof CTX_NAMES)[number];
export type Operation = CtxName | 'read' | 'mutation';

export const ALLOWED: Readonly<Record<CheckedPhase, readonly Operation[]>> = {
  producer: ['publish', 'registerInput', 'read', 'log'],
  prepare: ['peek', 'getByIds', 'take', 'idle', 'read', 'log'],
  'each prepare': ['read', 'log'],
  mutate: ['mutation', 'log'],
  next: ['publish', 'log'],
};

export const WHY: Readonly<Record<CheckedPhase, string>> = {
  producer: 'a producer only reads and publishes: what it changed outside would be in no ledger',
  prepare: 'prepare may run any number of times, so it changes nothing',
  'each prepare': 'the host chooses the event; this prepare only adds what the call needs',
  mutate: 'mutate makes one call out of what prepare gave it, so that the call can be known before it is sent',
  next: 'next runs after the call and may run again, so it only publishes and returns the state',
};

/** Where an operation belongs, for the advice. */
export const BELONGS: Readonly<Record<Operation, string>> = {
  peek: 'read topics in prepare and hand on what is needed as data',
  getByIds: 'read topics in prepare and hand on what is needed as data',
  take: 'choose events in prepare',
  idle: 'return ctx.idle() from prepare',
  publish: 'publish from a producer, or in next',
  registerInput: 'register inputs in the producer that publishes for them',
  log: 'log anywhere',
  read: 'read in prepare and hand on what is needed as data',
  mutation: 'return the call from mutate',
};

export function isCtxName(name: string): name is CtxName {
  return CTX_NAMES.some((known) => known === name);
}
