import type { AuditEntry } from '#model';
import { LOCK_AUDIT } from './apply.ts';
import type { Statement } from './flight.ts';

type Head = Pick<AuditEntry, 'seq' | 'hash'>;

/** Where others write into the log as well it is not worth it for so many acts; more each time it turns out so again. */
const WARY_MIN = 16;
const WARY_MAX = 4_096;
/** After so many acts that nobody came between it was worth it, whatever was before. */
const WORTH_IT = 64;

/** Whoever goes on from there has it alone until the commit, and it is the last thing that is held. */
const HEAD_IS = `SELECT pawl_expect(coalesce((SELECT seq FROM audit_log ORDER BY seq DESC LIMIT 1), 0), $1)`;

/** The end of the audit log as this process left it. Entries are never changed: one with the same number is the same. */
export class AuditHead {
  #head: Head | undefined;
  #acts = 0;
  #wary = 0;
  #waryNext = WARY_MIN;

  /** Undefined where it is not known, or not worth it. */
  get known(): Head | undefined {
    return this.#wary === 0 ? this.#head : undefined;
  }

  wrote(head: Head | undefined): void {
    this.#head = head;
    this.#acts += 1;
    this.#wary = Math.max(0, this.#wary - 1);
    if (this.#acts >= WORTH_IT) this.#waryNext = WARY_MIN;
  }

  wasWrong(): void {
    this.#head = undefined;
    this.#acts = 0;
    this.#wary = this.#waryNext;
    this.#waryNext = Math.min(this.#waryNext * 2, WARY_MAX);
  }

  forget(): void {
    this.#head = undefined;
  }
}

export function headIs({ seq }: Head): readonly Statement[] {
  return [...LOCK_AUDIT.slice(0, 1), { name: 'audit head is', text: HEAD_IS, values: [seq] }];
}
