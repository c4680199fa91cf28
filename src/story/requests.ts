import type { PermissionRequest, Workflow } from '#model';
import type { Choice } from './choices.ts';
import type { Need } from './needs.ts';
import type { Teller } from './teller.ts';
import { versionName } from './versions.ts';
import { list } from './words.ts';

/** A version that asks for more than its workflow may do. What is active goes on meanwhile, so that nothing stands still. */
export async function requestNeeds(teller: Teller, workflow: Workflow): Promise<Need[]> {
  const requests = await teller.history.fetch('openRequests', workflow.id);
  return Promise.all(requests.map((request) => needOf(teller, workflow, request)));
}

async function needOf(teller: Teller, workflow: Workflow, request: PermissionRequest): Promise<Need> {
  const asks = asksIn(request);
  const version = await versionOf(teller, request);
  return {
    kind: 'permission',
    id: request.id,
    workflow: workflow.id,
    name: workflow.name,
    sentence: `version ${version} by ${request.askedBy} waits for you to allow more: ${list(asks, 3)}`,
    since: request.askedAt,
    evidence: asks.map((ask) => `it wants ${ask}, which nobody has allowed`),
    next: [
      { label: 'allow it: the version takes over', argv: ['pawl', 'approve', request.id] },
      { label: 'refuse it: what is active stays', argv: ['pawl', 'reject', request.id] },
      { label: 'see what the workflow may do', argv: ['pawl', 'permissions', workflow.name] },
    ],
  };
}

export async function choicesOfRequest(teller: Teller, request: PermissionRequest): Promise<Choice[]> {
  const version = await versionOf(teller, request);
  const plain = { notBefore: null, asks: null } as const;
  return [
    {
      ...plain,
      id: 'allow',
      label: 'Allow',
      does: `What it asks for is allowed in your name, and version ${version} takes over.`,
      request: { method: 'POST', path: `/api/requests/${request.id}/allow`, body: {} },
      argv: ['pawl', 'approve', request.id],
    },
    {
      ...plain,
      id: 'refuse',
      label: 'Refuse',
      does: 'Nothing is allowed, and the version that is active stays.',
      request: { method: 'POST', path: `/api/requests/${request.id}/refuse`, body: {} },
      argv: ['pawl', 'reject', request.id],
    },
  ];
}

async function versionOf({ history }: Teller, { scriptId }: PermissionRequest): Promise<string> {
  const [script] = await history.fetch('script', scriptId);
  return script ? versionName(script) : scriptId;
}

/** `shop.post on /refunds`, as whoever asked wrote it down. */
export function asksIn({ asks }: PermissionRequest): string[] {
  const { asks: all } = JSON.parse(asks) as {
    asks: readonly { connection: string; method: string; targets: string[] }[];
  };
  return all.map(({ connection, method, targets }) => `${connection}.${method} on ${targets.join(', ')}`);
}
