import type { Event, EventInput, Mutation, Question, TopicHead } from '#model';
import type { SqlValue } from '../columns.ts';
import { withNames } from '../dialect.ts';
import { LOOKUP_STATEMENTS, TABLES } from '../statements/all.ts';
import type { Answer, Statement } from './flight.ts';
import { EACH } from './gather.ts';
import type { AnsweredQuestion } from './lookups.ts';

// Which event is the oldest of a topic is asked after every event. So what comes behind it is read with it, and what a run asks about the event
// it takes: the next runs then find everything at hand.

/** Events of a topic that are read at once, and how long their payloads may be together; the first comes in any case. */
const EVENTS_MAX = 100;
const PAYLOAD_MAX = 65_536;

const ofEach = (sql: string) => withNames(sql, (parameter) => `asked.${parameter}`);

const HEADS = ofEach(LOOKUP_STATEMENTS.heads.sql as string);
const PENDING = `SELECT ${TABLES.events.columnList()} FROM events
    WHERE workflow_id = asked.workflow AND topic = head.topic AND status = 'pending' ORDER BY id LIMIT ${EVENTS_MAX + 1}`;

const TOPICS = `unnest($1::text[]) AS asked (workflow), LATERAL (${HEADS} ${EACH}) AS head (workflow, topic, oldest, newest)`;

const EVENTS = `SELECT head.newest, found.of, ${TABLES.events.columnList('found')}
  FROM ${TOPICS}, LATERAL (SELECT pending.*, count(*) OVER () AS of, row_number() OVER w AS place,
      sum(octet_length(pending.payload)) OVER w AS length
    FROM (${PENDING} ${EACH}) AS pending WINDOW w AS (ORDER BY pending.id)) AS found
  WHERE found.place = 1 OR found.length <= ${PAYLOAD_MAX} ORDER BY found.id`;

/** Left where the statements behind it read them. */
const IDS = `SELECT set_config('pawl.ahead', coalesce(string_agg(found.id, ' '), ''), true)
  FROM ${TOPICS}, LATERAL (${PENDING} ${EACH}) AS found`;

const OF_WINDOW = `unnest(string_to_array(current_setting('pawl.ahead'), ' ')) AS asked (event)`;

function aboutWindow(sql: string): string {
  return `SELECT found.* FROM ${OF_WINDOW}, LATERAL (${withNames(sql, () => 'asked.event')} ${EACH}) AS found`;
}

const LEDGER = aboutWindow(LOOKUP_STATEMENTS.ledgerOfEvent.sql as string);
const INPUTS = aboutWindow(LOOKUP_STATEMENTS.inputsOf.sql as string);

/** What waits in these workflows, and what is known of it. */
export function askWindow(workflows: readonly string[]): readonly Statement[] {
  return [
    { name: 'window ids', text: IDS, values: [workflows] },
    { name: 'window events', text: EVENTS, values: [workflows] },
    { name: 'window ledger', text: LEDGER },
    { name: 'window inputs', text: INPUTS },
  ];
}

/** The pending events of a topic that were read: all, or those up to one. */
export interface Waiting {
  readonly topic: string;
  readonly until: string | undefined;
  /** How many were read. */
  readonly of: number;
  /** Of all of them, when they were read; and of those that were not, where that is known. */
  readonly newestSeq: number;
  readonly newestBeyond: number | undefined;
}

/** The window of one workflow: answers to what its next runs will ask. */
export interface Window {
  readonly waiting: readonly Waiting[];
  readonly answers: readonly AnsweredQuestion[];
}

export function windowsIn(workflows: readonly string[], answers: readonly Answer[]): ReadonlyMap<string, Window> {
  const [, events, ledger, inputs] = answers;
  const found = (events?.rows ?? []).map(foundEvent);
  const mutations = Map.groupBy(rowsOf<Mutation>('mutations', ledger), ({ firstEventId }) => firstEventId);
  const causes = Map.groupBy(rowsOf<EventInput>('event_inputs', inputs), ({ eventId }) => eventId);
  return new Map(
    workflows.map((workflow) => {
      const topics = Map.groupBy(
        found.filter(({ event }) => event.workflowId === workflow),
        ({ event }) => event.topic,
      );
      const windows = [...topics.values()].map(windowOf);
      const known = windows.flatMap((window) => window.events);
      return [
        workflow,
        {
          waiting: windows.map(({ waiting }) => waiting),
          answers: [
            answered(
              'heads',
              [workflow],
              windows.map(({ head }) => head),
            ),
            ...known.flatMap((event) => [
              answered('eventKeyed', [event.workflowId, event.topic, event.messageId], [event]),
              answered('ledgerOfEvent', [event.id], mutations.get(event.id) ?? []),
              answered('inputsOf', [event.id], causes.get(event.id) ?? []),
            ]),
          ],
        },
      ];
    }),
  );
}

interface Found {
  readonly event: Event;
  readonly newestSeq: number;
  /** How many there were, one more than are kept at the most. */
  readonly of: number;
}

function foundEvent([newestSeq, of, ...event]: readonly SqlValue[]): Found {
  return { event: TABLES.events.parse(event), newestSeq: Number(newestSeq), of: Number(of) };
}

interface TopicWindow {
  readonly head: TopicHead;
  readonly waiting: Waiting;
  readonly events: readonly Event[];
}

function windowOf(found: readonly Found[]): TopicWindow {
  const events = found.slice(0, EVENTS_MAX).map(({ event }) => event);
  const { event, newestSeq, of } = found[0] as Found;
  const newestHere = Math.max(...events.map(({ pendingSeq }) => pendingSeq));
  const { id, workflowId, topic } = event;
  return {
    head: { workflowId, topic, oldestId: id, newestSeq },
    events,
    waiting: {
      topic,
      of: events.length,
      until: events.length === of ? undefined : events.at(-1)?.id,
      newestSeq,
      newestBeyond: newestSeq > newestHere ? newestSeq : undefined,
    },
  };
}

function rowsOf<R>(table: 'mutations' | 'event_inputs', answer: Answer | undefined): R[] {
  return (answer?.rows ?? []).map((row) => TABLES[table].parse(row) as R);
}

function answered(name: Question['name'], by: readonly string[], rows: readonly unknown[]): AnsweredQuestion {
  return { question: { name, by } as unknown as Question, rows };
}
