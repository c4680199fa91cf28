import type { EventId } from '#base';
import type { ConsumerSpec, Mutation, Run, Workflow } from '#model';
import { notDoneFrom } from './not-done-from.ts';
import type { Teller } from './teller.ts';
import { versionBefore, versionName } from './versions.ts';
import { callName, count, eventName } from './words.ts';

/** What a person can press: what it will do is said before it is pressed. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  /** What it will do, in a sentence. */
  readonly does: string;
  /** It is refused before this time; null when it may be pressed now. */
  readonly notBefore: number | null;
  /** Something besides: the result of a call that happened, how many calls and hours, a time, or which of the events. */
  readonly asks: 'result' | 'cover' | 'olderThan' | 'events' | null;
  /** What it asks of the API; null for what is done elsewhere, such as mending a script. */
  readonly request: { readonly method: 'POST'; readonly path: string; readonly body: object } | null;
  /** The same as a command. */
  readonly argv: readonly string[] | null;
}

type Reads = Pick<Teller, 'history'>;

export async function choicesOfQuestion(teller: Teller, row: Mutation): Promise<Choice[]> {
  const { now } = teller;
  const resolve = (how: string) => ({ path: `/api/outputs/${row.id}/resolve`, body: { how } });
  const typed = (flag: string): string[] => ['pawl', 'resolve', row.id, flag];
  const handler = await handlerOf(teller, row);
  const goesOn = handler?.hasNext ? `${handler.name} goes on with its next` : 'its events are done';
  const waits = notDoneFrom(row);
  return [
    {
      ...choice('happened', 'It happened', resolve('happened'), typed('--happened')),
      does: `Recorded as done in your name: nothing is sent again, and ${goesOn}.`,
      asks: 'result',
    },
    {
      ...choice('did_not_happen', "It didn't happen", resolve('did_not_happen'), typed('--did-not-happen')),
      does: 'Recorded as not done in your name: its events are free again, and the same call is sent again with the same idempotency key.',
      notBefore: waits > now ? waits : null,
    },
    ...(row.status === 'indeterminate' && row.canReconcile
      ? [
          {
            ...choice('check_again', 'Check again', resolve('check_again'), typed('--check-again')),
            does: `${row.connection} is asked again what became of it; nothing is sent.`,
          },
        ]
      : []),
    {
      ...choice('skip', 'Skip', resolve('skip'), typed('--skip')),
      does: `Whatever happened, it is not sent again: ${count(row.eventIds.length, 'event')} ${row.eventIds.length === 1 ? 'is' : 'are'} marked as skipped${handler?.hasNext ? ', and next is told so' : ''}.`,
    },
    ...(row.setAsideAt === null
      ? [
          {
            ...choice('set_aside', 'Set aside', { path: `/api/outputs/${row.id}/set-aside`, body: {} }, [
              'pawl',
              'set-aside',
              row.id,
            ]),
            does: 'The question stays open and its events wait for your answer; the workflow goes on with the others, out of order.',
          },
        ]
      : []),
  ];
}

/** How many events wait for what becomes of it, and whether it is outside of what was allowed. */
interface Asking {
  readonly behind: number;
  readonly isOutside: boolean;
}

export function choicesOfApproval(workflow: Workflow, row: Mutation, { behind, isOutside }: Asking): Choice[] {
  const events = count(row.eventIds.length, 'event');
  const reject = (how: string) => ({ path: `/api/outputs/${row.id}/reject`, body: { how } });
  const approve = (body: object) => ({ path: `/api/outputs/${row.id}/approve`, body });
  return [
    {
      ...choice('approve', 'Approve', approve({}), ['pawl', 'approve', row.id]),
      does: `The ${callName(row)} is sent as it is shown here, byte for byte.`,
    },
    ...(behind === 0 ? [] : choicesOfMany(workflow, row, { behind, isOutside })),
    ...(isOutside ? [allowFromNowOn(workflow, row)] : []),
    {
      ...choice('reject_skip', 'Reject and skip', reject('skip'), ['pawl', 'reject', row.id, '--skip']),
      does: `Nothing is sent; ${events} will not be done, and the workflow goes on.`,
    },
    {
      ...choice('reject_park', 'Reject and put aside', reject('park'), ['pawl', 'reject', row.id, '--park']),
      does: `Nothing is sent; ${events} can be brought back later, and the workflow goes on.`,
    },
  ];
}

function allowFromNowOn({ name }: Workflow, { id, connection, method }: Mutation): Choice {
  const asked = { path: `/api/outputs/${id}/approve`, body: { allow: true } };
  return {
    ...choice('allow', 'Approve, and allow it from now on', asked, ['pawl', 'approve', id, '--allow']),
    does: `It is sent, and ${name} may use ${connection}.${method} on this target from now on.`,
  };
}

/** The outage is over, or the campaign is meant: all that wait, some of them, or only what is not too old. */
function choicesOfMany({ name }: Workflow, row: Mutation, { behind, isOutside }: Asking): Choice[] {
  const path = `/api/outputs/${row.id}/approve`;
  const calls = String(behind);
  const where = isOutside ? 'on this target' : 'on any target it may use';
  return [
    {
      ...choice(
        'approve_all',
        `Approve all ${behind.toLocaleString('en')}`,
        { path, body: { cover: { calls: behind } } },
        ['pawl', 'approve', row.id, '--calls', calls],
      ),
      does: `It is sent, and up to ${count(behind, 'more call')} of ${row.connection}.${row.method} ${where} within a day without asking again.`,
    },
    {
      ...choice('approve_some', 'Approve some', { path, body: {} }, ['pawl', 'approve', row.id, '--calls', 'N']),
      does: 'It is sent, and as many more as you say, within the time you say, without asking again.',
      asks: 'cover',
    },
    {
      ...choice(
        'skip_older',
        'Skip what is old',
        { path: `/api/workflows/${encodeURIComponent(name)}/skip-pending`, body: {} },
        ['pawl', 'skip-pending', name, '--older-than', '2d'],
      ),
      does: 'Events that wait and are older than you say will not be done. The call above still waits for your answer.',
      asks: 'olderThan',
    },
  ];
}

export function choicesOfGrant({ name }: Workflow): Choice[] {
  return [
    {
      ...choice('allow', 'Allow', { path: `/api/workflows/${name}/approve`, body: {} }, ['pawl', 'approve', name]),
      does: 'What it asks for is allowed in your name, and the workflow goes on.',
    },
  ];
}

export function choicesOfConnection(name: string, workflows: number): Choice[] {
  const all = count(workflows, 'workflow');
  return [
    {
      ...choice('test', 'Test it', { path: `/api/connections/${name}/test`, body: {} }, [
        'pawl',
        'connections',
        'test',
        name,
      ]),
      does: `${name} is read once, with the secret as it is now; if that works, ${all} ${workflows === 1 ? 'goes' : 'go'} on.`,
    },
    {
      ...choice('cure', 'It is mended', { path: `/api/connections/${name}/cure`, body: {} }, [
        'pawl',
        'connections',
        'cure',
        name,
      ]),
      does: `${all} ${workflows === 1 ? 'goes' : 'go'} on without a test; if ${name} refuses again, you are asked again.`,
    },
  ];
}

export async function choicesOfError(teller: Teller, workflow: Workflow): Promise<Choice[]> {
  return [
    {
      ...choice('resume', 'Let it go on', ...workflowAct(workflow, 'resume')),
      does: 'The error is taken as seen, and the workflow goes on.',
    },
    ...(await goBack(teller, workflow)),
  ];
}

/** Evidence against an answer: the events that would be sent again may be taken out first. */
export function choicesOfEvidence(workflow: Workflow, events: readonly EventId[]): Choice[] {
  const ids = [...events];
  const acts =
    ids.length === 0
      ? []
      : [
          {
            ...choice('skip', 'Do not send it again', { path: '/api/events/skip', body: { events: ids } }, [
              'pawl',
              'skip',
              ...ids,
            ]),
            does: `It happened: ${count(ids.length, 'event')} will not be done a second time. Then let the workflow go on.`,
          },
          {
            ...choice('park', 'Put it aside', { path: '/api/events/park', body: { events: ids } }, [
              'pawl',
              'park',
              ...ids,
            ]),
            does: `${count(ids.length, 'event')} can be brought back later. Then let the workflow go on.`,
          },
        ];
  return [
    ...acts,
    {
      ...choice('resume', 'Let it go on', ...workflowAct(workflow, 'resume')),
      does: ids.length === 0 ? 'The workflow goes on.' : 'What was not taken out is sent again, in your name.',
    },
  ];
}

/** More events of a repair than this are not named one by one in a command, and so many are shown to be chosen from. */
const TYPED_MAX = 20;
export const SUSPECTS_MAX = 200;

export async function choicesOfRepair(teller: Teller, workflow: Workflow, run: Run): Promise<Choice[]> {
  const isAfter = workflow.pendingRetryRunId === run.id;
  return [
    {
      ...choice('deploy', 'Mend the script', null, ['pawl', 'deploy', 'FILE']),
      does: `A new version takes over, and ${run.handlerName} is tried again under it.`,
    },
    {
      ...choice('retry', 'Try again', ...workflowAct(workflow, 'retry')),
      does: `${run.handlerName} is tried again as it is${isAfter ? '; its call is done and is not made again' : ''}.`,
    },
    ...(isAfter ? [finish(run)] : await leaveOut(teller, run)),
    ...(await goBack(teller, workflow)),
  ];
}

function finish(run: Run): Choice {
  return {
    ...choice('finish', 'Finish without next', { path: `/api/runs/${run.id}/finish`, body: {} }, [
      'pawl',
      'finish',
      run.id,
    ]),
    does: 'The call is done: its events are done too, and what next would have published is left out.',
  };
}

async function leaveOut(teller: Reads, run: Run): Promise<Choice[]> {
  if (run.deliveryId === null) return suspectChoices(teller, run);
  const skip = { path: `/api/deliveries/${run.deliveryId}/skip`, body: {} };
  return [
    {
      ...choice('skip', 'Skip the delivery', skip, ['pawl', 'skip', run.deliveryId]),
      does: `It is not handed to ${run.handlerName} again, nor taken a second time; the workflow goes on with the others.`,
    },
  ];
}

async function suspectChoices({ history }: Reads, run: Run): Promise<Choice[]> {
  const events = (await Promise.all(run.suspects.slice(0, SUSPECTS_MAX).map((each) => history.fetch('event', each))))
    .flat()
    .filter(({ status }) => status === 'pending');
  const [first] = events;
  if (!first) return [];
  const isOne = events.length === 1;
  const what = isOne ? eventName(first) : 'What you choose of the events it had looked at';
  const then = isOne
    ? 'the workflow goes on with the others.'
    : 'the workflow goes on when none of these waits any more, or when it is tried again with the rest.';
  const ids = events.map((event) => event.id);
  const acted = (id: 'park' | 'skip', label: string) => ({
    ...choice(id, label, { path: `/api/events/${id}`, body: { events: ids } }, ['pawl', id, ...ids]),
    ...(!isOne && { asks: 'events' as const }),
    ...(ids.length > TYPED_MAX && { argv: null }),
  });
  return [
    {
      ...acted('park', isOne ? 'Put the event aside' : 'Put events aside'),
      does: `${what} can be brought back later; ${then}`,
    },
    {
      ...acted('skip', isOne ? 'Skip the event' : 'Skip events'),
      does: `${what} will not be done; ${then}`,
    },
  ];
}

async function goBack(teller: Reads, workflow: Workflow): Promise<Choice[]> {
  const before = await versionBefore(teller, workflow);
  if (!before) return [];
  return [
    {
      ...choice('rollback', `Go back to version ${versionName(before)}`, ...workflowAct(workflow, 'rollback')),
      does: `Version ${versionName(before)} takes over again; what runs now ends under its own version.`,
    },
  ];
}

function workflowAct({ name }: Workflow, verb: string): [{ path: string; body: object }, string[]] {
  return [{ path: `/api/workflows/${encodeURIComponent(name)}/${verb}`, body: {} }, ['pawl', verb, name]];
}

function choice(id: string, label: string, asks: { path: string; body: object } | null, argv: readonly string[]) {
  return { id, label, notBefore: null, asks: null, request: asks && ({ method: 'POST', ...asks } as const), argv };
}

/** The consumer whose call it is, as the version that would go on has it. */
export async function handlerOf({ history }: Reads, row: Mutation): Promise<ConsumerSpec | undefined> {
  const [run] = await history.fetch('run', row.handlerRunId);
  const active = (await history.fetch('workflow', row.workflowId))[0]?.activeScriptId ?? row.scriptId;
  const [script] = await history.fetch('script', active);
  const [own] = await history.fetch('script', row.scriptId);
  const named = (consumer: ConsumerSpec): boolean => consumer.name === run?.handlerName;
  return script?.handlers.consumers.find(named) ?? own?.handlers.consumers.find(named);
}
