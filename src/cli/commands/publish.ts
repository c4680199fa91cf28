import type { Command } from 'commander';
import { part } from '../client.ts';
import { type Common, define, type Ended } from '../command.ts';
import { parseJson } from '../parse-json.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { idLines } from './acts.ts';
import type { Row } from './columns.ts';

interface PublishOptions extends Common {
  readonly messageId?: string;
  readonly title?: string;
}

export function addPublish(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('publish <workflow> <topic> [payload]')
    .description('publish one event; the payload is JSON, or - for the standard input')
    .option('--message-id <id>', 'its name within the topic; the same name again is the same event')
    .option('--title <title>', 'what people read');
  define<[string, string, string | undefined], PublishOptions>(
    terminal,
    ended,
    command,
    async (act, workflow, topic, given) => {
      if (given === undefined) throw noPayload(workflow, topic);
      const payload = parseJson('the payload', given === '-' ? await terminal.input() : given);
      const { messageId, title } = act.options;
      const event = {
        topic,
        payload,
        ...(messageId !== undefined && { messageId }),
        ...(title !== undefined && { title }),
      };
      const engine = await act.engine();
      const answer = await engine.post<Row & Published>(`/api/workflows/${part(workflow)}/publish`, {
        events: [event],
      });
      const { alreadyThere = [], ...ids } = answer;
      act.print(answer, () => `${published(alreadyThere[0], workflow, topic)}\n${idLines(ids)}`);
      return undefined;
    },
  );
}

interface Known {
  readonly messageId: string;
  readonly status: string;
}

interface Published {
  /** An engine of an older version does not say. */
  readonly alreadyThere?: readonly Known[];
}

/** One that waits takes the new payload and keeps its place; one that was taken up stays as it is. */
function published(known: Known | undefined, workflow: string, topic: string): string {
  if (known === undefined) return `published to ${topic} of ${workflow}`;
  const there = `nothing new was published: ${topic} of ${workflow} has the event ${known.messageId} already`;
  return known.status === 'pending'
    ? `${there}, and it waits; it has this payload now`
    : `${there}, and it is ${known.status}; this payload was left out`;
}

function noPayload(workflow: string, topic: string): UsageError {
  return new UsageError('say what the event carries', 'an event has a payload, and none was given', [
    { label: 'an empty one', argv: ['pawl', 'publish', workflow, topic, '{}'] },
    { label: `or one with something in it, such as '{"id":"order-1"}', or - to read it from the standard input` },
  ]);
}
