import type { LookupName, Question } from '#model';
import type { SqlValue } from '../columns.ts';
import { postgresDialect, withNames } from '../dialect.ts';
import { LOOKUP_STATEMENTS } from '../statements/all.ts';
import type { LookupStatement } from '../statements/statement.ts';
import type { Statement } from './flight.ts';
import { EACH, GATHERED, type Gathered } from './gather.ts';

/** Where the rows that are asked about come from: parameters, or what earlier statements of the same flight have gathered. */
type Asked = { readonly by: 'parameters' } | { readonly by: 'gathered'; readonly from: string };

/** The same SELECT as everywhere, for any number of questions at once: each comes back with its rows, or with none. */
function rendered(name: LookupName, asked: Asked): string {
  const { sql, by } = statementOf(name);
  const text = withNames(typeof sql === 'string' ? sql : sql(postgresDialect), (parameter) => `asked.${parameter}`);
  const from = asked.by === 'gathered' ? asked.from : `unnest(${by.map((_, i) => `$${i + 1}::text[]`).join(', ')})`;
  return `SELECT ${by.map((parameter) => `asked.${parameter}`).join(', ')}, found.*
    FROM ${from} AS asked (${by.join(', ')}) LEFT JOIN LATERAL (${text} ${EACH}) AS found ON true`;
}

function statementOf(name: LookupName): LookupStatement<LookupName> {
  return LOOKUP_STATEMENTS[name] as unknown as LookupStatement<LookupName>;
}

const texts = new Map<string, string>();

function textOf(statement: string, render: () => string): string {
  const text = texts.get(statement) ?? render();
  texts.set(statement, text);
  return text;
}

/** One statement for all questions of one lookup. */
export function lookupOf(name: LookupName, questions: readonly Question[]): Statement {
  const statement = `ask ${name}`;
  const values = statementOf(name).by.map((_, position) => questions.map(({ by }) => by[position] as string));
  return { name: statement, text: textOf(statement, () => rendered(name, { by: 'parameters' })), values };
}

/** Each lookup once, for all who ask for it. */
export function lookupsFor(questions: readonly Question[]): { name: LookupName; statement: Statement }[] {
  const names = [...new Set(questions.map(({ name }) => name))];
  return names.map((name) => ({
    name,
    statement: lookupOf(
      name,
      questions.filter((question) => question.name === name),
    ),
  }));
}

/** One statement for everything that was gathered. */
export function gatheredLookup(name: Gathered): Statement {
  const statement = `gathered ${name}`;
  return { name: statement, text: textOf(statement, () => rendered(name, { by: 'gathered', from: GATHERED[name] })) };
}

export interface AnsweredQuestion {
  readonly question: Question;
  readonly rows: readonly unknown[];
}

/** Rows by the question they answer. A question without rows comes as one row in which nothing was found. */
export function answersIn(name: LookupName, rows: readonly SqlValue[][]): readonly AnsweredQuestion[] {
  const { by, rows: table } = statementOf(name);
  const answers = new Map<string, { question: Question; rows: unknown[] }>();
  for (const row of rows) {
    const asked = row.slice(0, by.length) as string[];
    const key = asked.join('\0');
    const answer = answers.get(key) ?? { question: { name, by: asked } as unknown as Question, rows: [] };
    answers.set(key, answer);
    // The first column of every table is part of its key.
    if (row[by.length] !== null) answer.rows.push(table.parse(row.slice(by.length)));
  }
  return [...answers.values()];
}
