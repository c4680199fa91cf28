import type { LookupName, Question } from '#model';
import { postgresDialect, withNames } from '../dialect.ts';
import type { Asked } from '../reads.ts';
import { EVENT_LISTINGS, LISTINGS } from '../statements/listings.ts';
import type { SqlText } from '../statements/statement.ts';
import { keyOf } from './answers.ts';
import type { Answer, Statement } from './flight.ts';
import { answersIn, lookupOf } from './lookups.ts';

/** Somebody who waits for a read of its own, or for a lookup as the rules ask it. */
export interface Waiting {
  readonly asks: Asked | Question;
  /** It shares a statement with nobody: one that it shared failed. */
  readonly isAlone?: boolean;
  readonly resolve: (answer: Told) => void;
  readonly reject: (error: unknown) => void;
}

/** With the rows of a lookup, if it was one. */
export interface Told extends Answer {
  readonly found?: readonly unknown[] | undefined;
}

/** A statement, who waits for it, and what each of them is told. */
export interface Shared {
  readonly statement: Statement;
  readonly waiting: readonly Waiting[];
  tell(answer: Answer): void;
}

/** Statements in one flight; more would make the first wait for the last. */
const STATEMENTS_MAX = 32;
/** Those who share one. */
const SHARERS_MAX = 500;

/**
 * What many runs read at the same moment, each for its own workflow: the parameters that differ from one to the other, with their
 * types. What is not named here is the same for all of them.
 */
const SHARED_READS: ReadonlyMap<SqlText, Readonly<Record<string, 'text' | 'bigint'>>> = new Map<
  SqlText,
  Readonly<Record<string, 'text' | 'bigint'>>
>([
  [EVENT_LISTINGS.pendingOfTopic, { workflow: 'text', topic: 'text', after: 'text' }],
  [LISTINGS.allowances, { workflow: 'text', now: 'bigint' }],
]);

/** Takes as many of those who wait as go in one flight: whoever asks the same as others shares a statement with them. */
export function takeTogether(waiting: Waiting[], alone: (asked: Asked) => Statement): readonly Shared[] {
  const groups = new Map<string | Waiting, Waiting[]>();
  let taken = 0;
  for (const each of waiting) {
    const key = sharedKey(each);
    const group = groups.get(key);
    if (group === undefined && groups.size === STATEMENTS_MAX) break;
    if (group !== undefined && group.length === SHARERS_MAX) break;
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
    taken += 1;
  }
  waiting.splice(0, taken);
  return [...groups.values()].map((group) => shared(group, alone));
}

/** Whoever has the same may share a statement; nobody has the same as one who is his own. */
function sharedKey(waiting: Waiting): string | Waiting {
  const { asks } = waiting;
  if (waiting.isAlone) return waiting;
  if ('name' in asks) return asks.name;
  const differing = SHARED_READS.get(asks.sql);
  if (differing === undefined) return waiting;
  const same = Object.entries(asks.params).filter(([name]) => !(name in differing));
  return JSON.stringify([asks.sql, same]);
}

function shared(group: readonly Waiting[], alone: (asked: Asked) => Statement): Shared {
  const [first] = group as [Waiting];
  if ('name' in first.asks) return sharedLookup(first.asks.name, group);
  if (group.length > 1) return sharedRead(first.asks, group);
  return { statement: alone(first.asks), waiting: group, tell: first.resolve };
}

function sharedLookup(name: LookupName, waiting: readonly Waiting[]): Shared {
  const keyed = waiting.map((each) => ({
    ...each,
    question: each.asks as Question,
    key: keyOf(each.asks as Question),
  }));
  const questions = new Map(keyed.map(({ key, question }) => [key, question]));
  const tell = (answer: Answer): void => {
    const found = new Map(answersIn(name, answer.rows).map(({ question, rows }) => [keyOf(question), rows]));
    for (const { key, resolve } of keyed) resolve({ ...answer, found: found.get(key) });
  };
  return { statement: lookupOf(name, [...questions.values()]), waiting, tell };
}

function sharedRead({ sql, params }: Asked, waiting: readonly Waiting[]): Shared {
  const { name, text, lists, same } = sharedText(sql);
  const values = [
    ...lists.map((list) => waiting.map(({ asks }) => (asks as Asked).params[list] ?? null)),
    ...same.map((parameter) => params[parameter] ?? null),
  ];
  const tell = ({ rows, columns, command }: Answer): void => {
    const found = waiting.map((): Answer['rows'][number][] => []);
    for (const [place, ...row] of rows) found[Number(place) - 1]?.push(row);
    for (const [i, { resolve }] of waiting.entries())
      resolve({ rows: found[i] ?? [], columns: columns.slice(1), command });
  };
  return { statement: { name, text, values }, waiting, tell };
}

interface SharedText {
  readonly name: string;
  readonly text: string;
  /** Parameters that are lists, one value for each who asks; behind them those that are the same for all. */
  readonly lists: readonly string[];
  readonly same: readonly string[];
}

const texts = new Map<SqlText, SharedText>();

/**
 * The same SELECT for each who asks, in their order. Each is answered by its own steps into an index, and since the list leads and
 * the others follow, the rows of each come in the order that the SELECT gives them.
 */
function sharedText(sql: SqlText): SharedText {
  const known = texts.get(sql);
  if (known !== undefined) return known;
  const differing = SHARED_READS.get(sql) ?? {};
  const lists = Object.keys(differing);
  const same: string[] = [];
  const placeOf = (name: string): string => {
    if (name in differing) return `asked.its_${name}`;
    if (!same.includes(name)) same.push(name);
    return `$${lists.length + same.indexOf(name) + 1}`;
  };
  const each = withNames(typeof sql === 'string' ? sql : sql(postgresDialect), placeOf);
  const columns = lists.map((name) => `its_${name}`).join(', ');
  const given = lists.map((name, i) => `$${i + 1}::${differing[name]}[]`).join(', ');
  const text = `SELECT asked.its_place, found.* FROM unnest(${given}) WITH ORDINALITY AS asked (${columns}, its_place),
    LATERAL (${each}) AS found`;
  const made = { name: `read together ${texts.size + 1}`, text, lists, same };
  texts.set(sql, made);
  return made;
}

/** What is sent, for whoever looks at its plan. */
export function sharedStatements(): readonly Statement[] {
  return [...SHARED_READS.keys()].map((sql) => sharedText(sql));
}
