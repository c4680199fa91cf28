import type { OutputStory } from '#story';
import type { Terminal } from '../terminal.ts';

const TITLE_WIDTH = 26;
const STATUS_WIDTH = 9;

/** What the example prints: one line a thing, with the time since it began; colours only where a person looks. */
export class Storyteller {
  readonly #terminal: Terminal;
  readonly #folder: string;
  readonly #startedAt = performance.now();

  constructor(terminal: Terminal, folder: string) {
    this.#terminal = terminal;
    this.#folder = folder;
  }

  heading(text: string): void {
    this.#terminal.out(`\n${this.#paint('1', text)}\n\n`);
  }

  engine(text: string): void {
    this.#line('engine', text);
  }

  input(title: string): void {
    this.#line('in', title);
  }

  output({ title, handler, status, preview, resolvedBy }: OutputStory): void {
    const [word, colour, aside] = WORDS[status];
    const call =
      status === 'applied' && resolvedBy === 'reconcile'
        ? 'found at the desk, so not sent again'
        : (aside ?? this.#callOf(preview));
    const padded = word.padEnd(STATUS_WIDTH);
    this.#line(
      'out',
      `${(title ?? handler).padEnd(TITLE_WIDTH)} ${this.#paint(colour, padded)} ${this.#paint('2', call)}`,
    );
  }

  loud(text: string): void {
    this.#line('', this.#paint('1', text));
  }

  plain(text: string): void {
    this.#terminal.out(`${text}\n`);
  }

  #line(kind: string, text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1).padStart(6);
    const line = `${this.#paint('2', `${seconds} s`)}  ${kind.padEnd(6)}  ${text}`;
    this.#terminal.out(`${line.trimEnd()}\n`);
  }

  /** Where the example lies is said once, not in every line. */
  #callOf(preview: string): string {
    return (preview.split('\n')[0] ?? '').replaceAll(`${this.#folder}/`, '').trim();
  }

  #paint(code: string, text: string): string {
    const isPlain = this.#terminal.columns === undefined || (this.#terminal.env.NO_COLOR ?? '') !== '';
    return isPlain ? text : `\u001b[${code}m${text}\u001b[0m`;
  }
}

const GREEN = '32';
const YELLOW = '33';
const RED = '31';

const WORDS: Readonly<Record<OutputStory['status'], readonly [word: string, colour: string, aside?: string]>> = {
  pending: ['waits', YELLOW, 'for approval'],
  in_flight: ['sent', YELLOW],
  applied: ['done', GREEN],
  failed: ['not done', RED],
  needs_reconcile: ['checking', YELLOW, 'nobody knows what became of it: the desk is asked'],
  indeterminate: ['unknown', RED, 'a person is asked'],
};
