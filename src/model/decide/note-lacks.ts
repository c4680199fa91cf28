import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { LACK_CHARS_MAX, LACKS_MAX, NAME_CHARS_MAX } from '../limits.ts';
import { livingWorker } from '../rule/find.ts';
import { checkText, refuse } from '../rule/refusal.ts';

/** For whoever looks on: nothing is decided by it. The process leaves what it cannot do by itself. */
export function noteLacks(draft: Draft, command: CommandOf<'noteLacks'>): ReplyTo<'noteLacks'> {
  const worker = livingWorker(draft, command.worker);
  const { lacks } = command;
  if (lacks.length > LACKS_MAX)
    refuse(
      'invalid',
      `worker ${worker.id} says that it lacks ${lacks.length} things`,
      `at most ${LACKS_MAX} are kept`,
      {
        next: ['name fewer'],
        ids: { worker: worker.id },
      },
    );
  for (const { workflow, connection, why } of lacks) {
    checkText('the name of a workflow', workflow, NAME_CHARS_MAX);
    checkText('the name of a connection', connection, NAME_CHARS_MAX);
    checkText('why a worker lacks something', why, LACK_CHARS_MAX);
  }
  draft.write({ set: 'worker.lacks', worker: worker.id, lacks });
  return {};
}
