import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Session } from '../rows.ts';
import { fenced } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { endSession } from '../rule/stop.ts';

/** A session whose runs have all committed is completed, with its execution. */
export function finishSession(draft: Draft, command: CommandOf<'finishSession'>): ReplyTo<'finishSession'> {
  const { execution, session } = fenced(draft, command.fence);
  mustBeIdle(draft, session);
  const ended = execution.cancelRequestedAt === null ? 'completed' : 'cancelled';
  endSession(draft, session, { to: ended });
  return { ended };
}

export function mustBeIdle(draft: Draft, session: Session): void {
  const active = draft.one('activeRun', session.workflowId);
  if (!active) return;
  refuse(
    'busy',
    `session ${session.id} is running ${active.handlerName}`,
    'a session ends or goes on when its run has ended',
    {
      next: ['commit or stop the run'],
      ids: { session: session.id, run: active.id },
    },
  );
}
