import { type EventId, type ExecutionId, keepNewest, type WorkflowId } from '#base';
import type { LookupName, Lookups, Question, Script, Source } from '#model';
import { ByQuestion } from './by-question.ts';
import { rowHeldFor, workflowsHeldFor } from './holds.ts';
import type { KnownWorkflow } from './known.ts';
import type { AnsweredQuestion } from './lookups.ts';

/** What never changes, and is asked for with nearly every command. */
const REMEMBERED_MAX = 10_000;

/** Facts that stay true whatever is committed: versions, and which workflow an execution is of. */
export class Memory {
  readonly #scripts = new Map<string, readonly Script[]>();
  readonly #workflows = new Map<ExecutionId, WorkflowId>();

  scripts(id: string): readonly Script[] | undefined {
    return this.#scripts.get(id);
  }

  workflowOf(execution: ExecutionId): WorkflowId | undefined {
    return this.#workflows.get(execution);
  }

  noteExecution({ id, workflowId }: { readonly id: ExecutionId; readonly workflowId: WorkflowId }): void {
    keepNewest(this.#workflows, id, workflowId, REMEMBERED_MAX);
  }

  noteScript(script: Script): void {
    keepNewest(this.#scripts, script.id, [script], REMEMBERED_MAX);
  }
}

/** What one transaction has read, and what it holds. */
export class Answers {
  readonly memory: Memory;
  /** Nobody else can change what belongs to these until the transaction ends. */
  readonly locked: ReadonlySet<string>;
  /** Those that exist, of those it tried to hold: one that is not held is in somebody else's hands. */
  readonly wanted: ReadonlySet<string>;
  /** Those that were asked about and do not exist: there is nothing to hold. */
  readonly #absent = new Set<string>();
  readonly #rows = new ByQuestion<readonly unknown[]>();
  readonly #lists = new Set<readonly string[]>();
  /** What was remembered of workflows, and is still so. */
  readonly #trusted = new Set<KnownWorkflow>();

  constructor(memory: Memory, locked: Iterable<string> = [], wanted: Iterable<string> = []) {
    this.memory = memory;
    this.locked = new Set(locked);
    this.wanted = new Set(wanted);
  }

  addAbsent(workflow: WorkflowId): void {
    this.#absent.add(workflow);
    this.add({ question: { name: 'workflow', by: [workflow] }, rows: [] });
  }

  trust(known: KnownWorkflow): void {
    this.#trusted.add(known);
  }

  /** Whether what belongs to this workflow stays as it was read. */
  isSafe(workflow: string): boolean {
    return this.locked.has(workflow) || this.#absent.has(workflow);
  }

  add({ question, rows }: AnsweredQuestion): void {
    this.#rows.set(question, rows);
    if (question.name === 'execution' || question.name === 'openExecutions') {
      for (const row of rows) this.memory.noteExecution(row as Lookups['execution']['gives']);
    }
    if (question.name === 'script') for (const row of rows) this.memory.noteScript(row as Script);
    for (const row of rows as readonly EventLists[]) {
      for (const list of [row.eventIds, row.suspects]) if (list && list.length > 1) this.#lists.add(list);
    }
  }

  /** Events come in lists, and a rule that asks for one of a list asks for the others next. */
  alike(question: Question): readonly Question[] {
    if (question.name !== 'event') return [question];
    const [id] = question.by;
    const list = [...this.#lists].find((events) => events.includes(id)) ?? [];
    return [question, ...list.map((other): Question => ({ name: 'event', by: [other as EventId] }))];
  }

  get(question: Question, known?: KnownWorkflow): readonly unknown[] | undefined {
    const rows = this.#rows.get(question);
    if (rows !== undefined) return rows;
    if (question.name === 'script') return this.memory.scripts(question.by[0]);
    return known !== undefined && this.#trusted.has(known) ? known.answer(question) : undefined;
  }
}

/** The columns that hold lists of events, of calls and of runs. */
interface EventLists {
  readonly eventIds?: readonly string[];
  readonly suspects?: readonly string[];
}

/** No two different questions read the same: names have a fixed number of parts, and none that is asked has the character between them. */
export function keyOf({ name, by }: Question): string {
  return `${name}\0${by.join('\0')}`;
}

/** What no row can hold finds none: PostgreSQL does not even take the one character it cannot keep. */
export function isKeepable(text: unknown): boolean {
  return typeof text === 'string' && !text.includes('\0');
}

/** Thrown through a decision that cannot be made yet. */
class NotHeld extends Error {}

/** The answers as one unit sees them: what it asked for, and what it could not be told. */
export class View implements Source {
  /** The lookups it asked for, so that the next unit of its kind finds them at hand. */
  readonly asked = new Set<LookupName>();
  /** What it depends on: its workflows, and rows beside them. */
  readonly uses = new Set<string>();
  readonly missing: Question[] = [];
  /** Workflows whose rows it would need to hold, and nobody has asked for yet. */
  readonly unlocked = new Set<string>();
  /** Somebody else holds its rows. */
  isHeldUp = false;
  /** What it was told, besides what was remembered. */
  readonly told: AnsweredQuestion[] = [];
  readonly #answers: Answers;
  readonly #known: KnownWorkflow | undefined;

  constructor(answers: Answers, known?: KnownWorkflow) {
    this.#answers = answers;
    this.#known = known;
  }

  /** Whether it was told everything, so that what it decided counts. */
  get isWhole(): boolean {
    return this.missing.length === 0 && this.unlocked.size === 0 && !this.isHeldUp;
  }

  /** Whether it was told everything, and these are still the answers it was told. */
  isOf(answers: Answers): boolean {
    return this.isWhole && this.#answers === answers;
  }

  /** The workflows among what it depends on. */
  get workflows(): readonly string[] {
    return [...this.uses].filter((used) => !used.includes(' '));
  }

  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
    const question = { name, by } as unknown as Question;
    this.asked.add(name);
    if (!by.every(isKeepable)) return [];
    const rows = this.#answers.get(question, this.#known);
    if (rows === undefined) {
      // The decision is void, but it may go on as long as it can: the more it asks for, the fewer round trips it takes.
      this.missing.push(...this.#answers.alike(question));
      return [];
    }
    const row = rowHeldFor(question);
    if (row !== undefined) this.uses.add(row);
    for (const workflow of workflowsHeldFor(question, rows)) this.#hold(workflow);
    this.told.push({ question, rows });
    return rows as readonly Lookups[N]['gives'][];
  }

  #hold(workflow: string): void {
    this.uses.add(workflow);
    if (this.#answers.isSafe(workflow)) return;
    if (this.#answers.wanted.has(workflow)) this.isHeldUp = true;
    else this.unlocked.add(workflow);
    throw new NotHeld(`workflow ${workflow} is not held`);
  }
}
