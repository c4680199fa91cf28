import type { AuditEntry } from '#model';
import { oneLine } from './words.ts';

/** What people did, as the audit log names it. */
const ACT_WORDS: Readonly<Record<string, string>> = {
  create: 'created the workflow',
  'add version': 'added a version',
  activate: 'activated a version',
  'approve grant': 'gave the permission',
  allow: 'allowed it',
  disallow: 'took back what was allowed',
  'ask permission': 'asked for more permission',
  'allow version': 'allowed a version what it asks for',
  'refuse version': 'refused a version what it asks for',
  approve: 'approved the call',
  'allow calls': 'approved more calls like it',
  reject: 'rejected the call',
  pause: 'paused it',
  resume: 'let it go on',
  archive: 'archived it',
  cancel: 'cancelled the session',
  publish: 'published events',
  'run now': 'asked to run it now',
  'set state': 'set the state of a handler',
  'skip pending': 'skipped the pending events of a topic',
  retry: 'asked to try again as it is',
  repaired: 'repaired it',
  'finish without next': 'finished the run without next',
  'set aside': 'set the question aside',
  'check again': 'asked to look again',
  user_assert_applied: 'said that it happened',
  user_assert_failed: 'said that it did not happen',
  skip: 'skipped it',
  park: 'put it aside',
  unpark: 'brought it back',
  redo: 'asked to do it again',
  'cure connection': 'said that the connection works',
  'test connection': 'tested the connection',
  'test channel': 'tested a channel',
  'create token': 'made a token',
  'revoke token': 'revoked a token',
  'log in': 'opened a session of the console',
  'log out': 'ended a session of the console',
  'set secret': 'set a secret',
  'reseal secret': 'sealed a secret with another key',
  'rotate key': 'changed the master key',
  'remove secret': 'took a secret away',
  'back up': 'wrote a backup',
  export: 'wrote it into a file',
  import: 'brought it here from another engine',
  'remove old history': 'asked to remove old history now',
};

/** One entry of the log as a sentence. */
export function actSentence({ actor, act, detail }: AuditEntry): string {
  return `${actor} ${ACT_WORDS[act] ?? `did: ${act}`}${detail === '' ? '' : ` (${oneLine(detail, 120)})`}`;
}
