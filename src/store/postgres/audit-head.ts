import type { AuditEntry } from '#model';
import { LOCK_AUDIT } from './apply.ts';
import type { Statement } from './flight.ts';
import { Wariness } from './wariness.ts';

type Head = Pick<AuditEntry, 'seq' | 'hash'>;

/** Whoever goes on from there has it alone until the commit, and it is the last thing that is held. */
const HEAD_IS = `SELECT pawl_expect(coalesce((SELECT seq FROM audit_log ORDER BY seq DESC LIMIT 1), 0), $1)`;

/** The end of the audit log as this process left it. Entries are never changed: one with the same number is the same. */
export class AuditHead {
  readonly #wariness = new Wariness();
  #head: Head | undefined;

  /** Undefined where it is not known, or others write into the log as well. */
  get known(): Head | undefined {
    return this.#wariness.isWary ? undefined : this.#head;
  }

  wrote(head: Head | undefined): void {
    this.#head = head;
    this.#wariness.went();
  }

  wasWrong(): void {
    this.#head = undefined;
    this.#wariness.wasWrong();
  }

  forget(): void {
    this.#head = undefined;
  }
}

export function headIs({ seq }: Head): readonly Statement[] {
  return [...LOCK_AUDIT.slice(0, 1), { name: 'audit head is', text: HEAD_IS, values: [seq] }];
}
