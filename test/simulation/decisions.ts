import type { Decision, Place, WorldSpec } from './history.ts';

export const PLAIN: WorldSpec = { workflows: 1, shape: 'book', orders: 1, batch: 1, lookUp: false, approval: 'never' };

type Call = Extract<Decision, { do: 'call' }>['ends'];
export type LookUp = Extract<Decision, { do: 'look-up' }>['finds'];
type Act = Extract<Decision, { do: 'person' }>['act'];
type Script = Extract<Decision, { do: 'script' }>;

export const call = (ends: Call): Decision => ({ after: 0, do: 'call', ends });
export const lookUp = (finds: LookUp): Decision => ({ after: 0, do: 'look-up', finds });
export const script = (phase: Script['phase'], how: Script['how'], variant = 0): Decision => {
  return { after: 0, do: 'script', phase, how, variant };
};
export const person = (act: Act, at: Place, which = 0): Decision => ({ after: 0, at, do: 'person', act, which });
/** When there is nothing else to do: the engine waits, and people have all the time. */
export const afterwards = (act: Act, which = 0): Decision => ({ ...person(act, 'time passes', which), after: 1 });
