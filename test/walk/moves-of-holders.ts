import type { NoticeId, PermissionRequestId, TokenId } from '#base';
import type { CommandOf } from '#model';
import { PERSON } from '../support/fixture.ts';
import { IMPORTED } from '../support/imported.ts';
import type { View } from './view.ts';

/** Commands about what people hold, allow and are told. No rule of a run reads these rows, so a few states try them. */

const by = PERSON;
const GRANT = { connection: 'shop', method: 'post', targets: ['*'], capPerHour: null };

const isTried = (view: View): boolean => view.ordinal % 16 === 0;

function only<C>(view: View, ...commands: C[]): C[] {
  return isTried(view) ? commands : commands.slice(0, 1);
}

export function createToken(view: View): CommandOf<'createToken'>[] {
  const token = { kind: 'token', name: 'ci', scopes: ['read'], hash: 'another', expiresAt: view.now + 1, by } as const;
  return only(view, { do: 'createToken', ...token }, { do: 'createToken', ...token, scopes: [] });
}

export function revokeToken(view: View): CommandOf<'revokeToken'>[] {
  const tokens = view.rows.tokens.values().map(({ id }) => id);
  return [...tokens, 'tok_none' as TokenId].map((token) => ({ do: 'revokeToken', token, by }));
}

export function setSecret(view: View): CommandOf<'setSecret'>[] {
  return only(
    view,
    { do: 'setSecret', name: 'shop', box: 'sealed', by },
    { do: 'setSecret', name: 'new', box: 'sealed', by },
    { do: 'setSecret', name: '', box: 'sealed', by },
  );
}

export function removeSecret(view: View): CommandOf<'removeSecret'>[] {
  return only(view, { do: 'removeSecret', name: 'shop', by }, { do: 'removeSecret', name: 'none', by });
}

export function giveGrants(view: View): CommandOf<'giveGrants'>[] {
  const workflow = view.home.id;
  return only(
    view,
    { do: 'giveGrants', workflow, grants: [GRANT], by },
    { do: 'giveGrants', workflow, grants: [], by },
  );
}

export function takeGrant(view: View): CommandOf<'takeGrant'>[] {
  const workflow = view.home.id;
  return only(
    view,
    { do: 'takeGrant', workflow, connection: 'shop', method: 'post', by },
    { do: 'takeGrant', workflow, connection: 'mail', method: 'post', by },
  );
}

export function askPermission(view: View): CommandOf<'askPermission'>[] {
  const workflow = view.home.id;
  return view.scripts.slice(0, 2).map(({ id: script }) => ({ do: 'askPermission', workflow, script, asks: '[]', by }));
}

export function answerPermission(view: View): CommandOf<'answerPermission'>[] {
  const requests = view.rows.requests.values().map(({ id }) => id);
  return [...requests, 'req_none' as PermissionRequestId].map((request) => ({
    do: 'answerPermission',
    request,
    answer: 'refused',
    by,
  }));
}

export function recordAct(view: View): CommandOf<'recordAct'>[] {
  return only(
    view,
    { do: 'recordAct', act: 'back up', subject: 'file', by },
    { do: 'recordAct', act: '', subject: 'file', by },
  );
}

export function openNotices(view: View): CommandOf<'openNotices'>[] {
  return only(
    view,
    { do: 'openNotices', caseKey: 'unknown mut_1', channels: ['mail'] },
    { do: 'openNotices', caseKey: '', channels: ['mail'] },
  );
}

export function settleNotice(view: View): CommandOf<'settleNotice'>[] {
  const notices = view.rows.notices.values().map(({ id }) => id);
  return [...notices, 'ntc_none' as NoticeId].map((notice) => ({ do: 'settleNotice', notice, outcome: 'sent' }));
}

/** Everything there is is named, latest first: what may go goes, and nothing else. */
export function pruneHistory(view: View): CommandOf<'pruneHistory'>[] {
  const { home, now, rows } = view;
  const ofHome = (row: { readonly workflowId: string }) => row.workflowId === home.id;
  const latestFirst = <I extends string>(found: readonly { readonly id: I }[]): I[] =>
    found.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1));
  const all: CommandOf<'pruneHistory'> = {
    do: 'pruneHistory',
    workflow: home.id,
    before: now,
    runs: latestFirst(view.runs.filter((run) => run.rootRunId === run.id)),
    events: latestFirst(view.events),
    sessions: latestFirst(rows.sessions.matching(ofHome)),
    executions: latestFirst(view.executions),
    inputs: latestFirst(rows.inputs.matching(ofHome)),
  };
  const foreign = { runs: [view.foreign.run.id], events: [view.foreign.event.id] };
  return only(view, all, { ...all, ...foreign }, { ...all, before: now + 1 });
}

/** It touches nothing that is there, so that now and then is enough. */
export function importWorkflow(view: View): CommandOf<'importWorkflow'>[] {
  if (view.ordinal % 16 !== 0) return [];
  const command = { do: 'importWorkflow', rows: IMPORTED, name: 'moved', from: 'another engine', by } as const;
  return only(view, command, { ...command, name: view.home.name });
}
