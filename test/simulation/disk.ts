import type { Rows } from '#model';
import type { Reader, Store } from '#store';

/** What is left when a process dies: the data, and who may open it next. */
export interface Disk {
  /** As the next process finds it; whatever a dead one still held is let go. */
  open(): Opened;
  /** What was not synced is gone. */
  losePower(): void;
  close(): void;
}

export interface Opened {
  readonly store: Store;
  readonly reader: Reader;
  /** Whether looking at every row after every commit is no matter. */
  readonly isQuick: boolean;
  /** All rows as the last commit left them. */
  rows(): Rows;
  /** They are no longer what they were. */
  changed(): void;
  /** Whether the store finds that it can write, from its next statement on. */
  setWritable(isWritable: boolean): void;
  /** What is broken, in words: every invariant asked of the data as it is kept. */
  offences(): readonly string[];
}
