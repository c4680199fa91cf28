import {
  CALL_ENDS,
  COMMIT_FAILS,
  HAND_OFF_VIEWS,
  LOOK_UPS,
  MESSAGE_ENDS,
  PERSON_ACTS,
  READ_ENDS,
  SCRIPT_PHASES,
  SCRIPT_WAYS,
  SHARED_COMMIT_FAILS,
} from './history.ts';
import type { PhaseOfWork } from './judge.ts';

/** All that can go wrong, by the names it has in the table. */
export const FAULT_NAMES: readonly string[] = [
  'die',
  'lose power',
  'stop',
  'clock set back',
  'clock set forward',
  'sleep',
  ...COMMIT_FAILS.map((fails) => `commit ${fails}`),
  ...CALL_ENDS.slice(1).map((ends) => `call ${ends}`),
  ...LOOK_UPS.slice(1).map((finds) => `look-up ${finds}`),
  ...READ_ENDS.slice(1).map((ends) => `read ${ends}`),
  ...SCRIPT_PHASES.flatMap((phase) => SCRIPT_WAYS.map((how) => `${phase} ${how}`)),
  ...PERSON_ACTS.map((act) => `person: ${act}`),
];

/** What goes wrong between several processes. */
export const FLEET_FAULT_NAMES: readonly string[] = [
  'die',
  'stop',
  'freeze',
  'sleep',
  'cut off',
  'lag',
  'clock set back',
  'clock set forward',
  ...MESSAGE_ENDS.map((goes) => `message ${goes}`),
  ...HAND_OFF_VIEWS.map((seen) => `hand-off ${seen}`),
  ...SHARED_COMMIT_FAILS.map((fails) => `commit ${fails}`),
  'person: cancel',
];

interface Reason {
  readonly applies: (name: string, phase: PhaseOfWork) => boolean;
  readonly says: string;
}

const FAULT_REASONS: readonly Reason[] = [
  {
    applies: (name, phase) => name.startsWith('call ') && phase !== 'mutating',
    says: 'a call is out only while a run is mutating',
  },
  {
    applies: (name, phase) => name.startsWith('produce ') && phase !== 'executing',
    says: 'the script of a producer runs only while it is executing',
  },
  {
    applies: (name, phase) => /^(prepare|mutate) /.test(name) && phase !== 'preparing',
    says: 'prepare and mutate run together, before anything is recorded',
  },
  {
    applies: (name, phase) => name.startsWith('next ') && phase !== 'emitting',
    says: 'next runs only while a run is emitting',
  },
  {
    applies: (name, phase) => name.startsWith('read ') && phase !== 'executing',
    says: 'of these scripts only the producer reads',
  },
  {
    applies: (name, phase) => phase === 'recovering' && /^(person|stop|look-up)/.test(name),
    says: 'nobody can be asked for anything, and nothing is looked up, before the process is up',
  },
];

export function reasonForFault(name: string, phase: PhaseOfWork): string | undefined {
  return FAULT_REASONS.find(({ applies }) => applies(name, phase))?.says;
}

const DEATH_REASONS: readonly { readonly transition: RegExp; readonly life?: number; readonly says: string }[] = [
  {
    transition: /^reapExecution/,
    life: 1,
    says: 'a first process begins after a clean end: there is nobody to recover',
  },
];

export function reasonForDeath(transition: string, life: number): string | undefined {
  return DEATH_REASONS.find((one) => one.transition.test(transition) && (one.life ?? life) === life)?.says;
}
