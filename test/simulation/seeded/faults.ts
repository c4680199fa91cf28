import type { Fault } from '../../faults/fault.ts';
import { FAULTS } from '../../faults/faults.ts';
import { GUARDED_FAULTS } from './behind-guards.ts';
import { FLEET_FAULTS } from './in-fleets.ts';
import { HOST_FAULTS } from './in-hosts.ts';

/** Of the faults the whole suite is measured by, those that break a promise and not only a rule. */
const FROM_THE_SUITE: readonly string[] = [
  'the boundary is decided by phase first, so an answered run at mutating is before it',
  'a call in flight counts as not sent',
  'a call that nobody can look up counts as not sent',
  'a call that waits for approval is forgotten with its run',
  'a call that a person skipped counts as not sent, and is sent again',
  'a call that the provider refused counts as done',
  'events are queued again although their call may have happened',
  'Bug 1: a failure after the mutation sets no pointer',
  'the release is skipped when a run stops before the boundary',
  'a stopped run leaves its call in flight',
  'a call counts as over when its run stops, even if it may still go out',
  'the pointer is overwritten by a set-aside run that fails again',
  'hold unknown does not stand while the outcome is being looked up',
  'a question that was set aside still holds the workflow',
  'the pointer of another run is cleared when a set-aside run is answered',
  'a chain that is done with stays set aside',
  'nothing is due after an answer',
  'a run that was set aside and then answered never goes on to next',
  'what a run publishes forgets what caused it',
  'prepared pins nothing: its events stay pending',
  'an event that changed since the script saw it is reserved all the same',
  'a commit leaves its events reserved',
  'a delivery is handed to its producer again and again',
  'the next tick of a schedule is forgotten',
  'nothing is in the ledger before a call is sent',
  'a call is sent although the workflow is on hold',
  'a call that needs approval is sent at once',
  '"it did not happen" is believed while the call may still be under way',
  'a look-up that began too early counts when its answer comes late',
  '"it did not happen" does not wait until an effect would show',
  'a call counts as over at its deadline, without grace',
  '"it did not happen" leaves the events reserved',
  '"it did not happen" leaves the pointer',
  'events are released twice after "it did not happen"',
  'the hold stands after the question was answered',
  "the key changes after somebody's not done",
  'Bug 4: a retry does not take the reservations over',
  'a retry leaves the pointer at the run it retries',
  'a retry does not know what was prepared',
  'a skip commits the run although next is owed',
  'a rejected call releases its events, and asks again for ever',
  'resume goes on while the outcome of a call is unknown',
  'the reaper leaves the active run of a dead worker active',
  'callers are told that all is well although the commit failed',
  'a refused command is answered as done',
  'a command is tried again after its commit failed, and is written twice',
  'nobody is told what a commit changed',
  'a store that took no writes is never asked again',
  'a broken disk does not end the process',
  'Bug 2: a transition is two commits instead of one',
  'synchronous = NORMAL is good enough',
  'SQL: consumed events are written as skipped',
  'SQL: a refused call is written as applied',
  'a failed batch is not rolled back',
];

export const SEEDED: readonly Fault[] = [
  ...HOST_FAULTS,
  ...FLEET_FAULTS,
  ...GUARDED_FAULTS,
  ...FROM_THE_SUITE.map(named),
];

function named(name: string): Fault {
  const fault = FAULTS.find((one) => one.name === name);
  if (!fault) throw new Error(`there is no fault named ${name}`);
  return fault;
}
