import { type AuditEntry, chained } from '#model';
import type { Teller } from './teller.ts';

/** A place in the log that somebody noted earlier. */
export interface AuditPlace {
  readonly seq: number;
  readonly hash: string;
}

export interface AuditVerified {
  readonly ok: boolean;
  readonly entries: number;
  /** Where the log ends: whoever notes it can tell later whether the end was cut off. */
  readonly head: AuditPlace | null;
  /** The first entry that is not as it was written, and why. */
  readonly broken: { readonly seq: number; readonly why: string } | null;
}

const PAGE = 1_000;

/** Every entry again from the first: each must follow from the one before. In pages, with a pause for others in between. */
export async function verifyAudit(
  { history }: { readonly history: Pick<Teller['history'], 'list'> },
  noted?: AuditPlace,
): Promise<AuditVerified> {
  let last: AuditEntry | undefined;
  let isNotedSeen = noted === undefined;
  let after: string | undefined;
  for (;;) {
    const { rows, next } = await history.list('audit', { order: 'oldest', limit: PAGE, after });
    for (const entry of rows) {
      const why = whyBroken(last, entry);
      if (why !== undefined) return verified(last, { seq: entry.seq, why });
      if (entry.seq === noted?.seq && entry.hash !== noted.hash) {
        return verified(last, { seq: entry.seq, why: 'it is another entry than the one that was noted' });
      }
      isNotedSeen ||= entry.seq === noted?.seq;
      last = entry;
    }
    if (next === null) break;
    after = next;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (isNotedSeen) return verified(last, null);
  const seq = (last?.seq ?? 0) + 1;
  return verified(last, { seq, why: `the log ends before entry ${noted?.seq}, which was noted` });
}

function verified(last: AuditEntry | undefined, broken: AuditVerified['broken']): AuditVerified {
  const head = last ? { seq: last.seq, hash: last.hash } : null;
  return { ok: broken === null, entries: last?.seq ?? 0, head, broken };
}

function whyBroken(last: AuditEntry | undefined, entry: AuditEntry): string | undefined {
  const { at, actor, act, subject, detail } = entry;
  const expected = chained(last, { set: 'audit.appended', at, actor, act, subject, detail });
  if (entry.seq !== expected.seq) return `entries ${expected.seq} to ${entry.seq - 1} are missing`;
  if (entry.previousHash !== expected.previousHash) return 'it does not follow the entry before';
  if (entry.hash !== expected.hash) return 'it was changed after it was written';
  return undefined;
}
