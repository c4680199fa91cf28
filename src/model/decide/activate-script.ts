import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Run, Script, Workflow } from '../rows.ts';
import { audit, consumerSpec, lastRunRow, mustBeNamed, scriptRow, workflowOf, workflowRow } from '../rule/find.ts';
import { keep, keptState } from '../rule/keep.ts';
import { overtakeRequests } from '../rule/overtake-requests.ts';
import { checkId, checkWhole, notFound, refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { changeStanding } from '../rule/standing.ts';
import { exitMaintenance } from './exit-maintenance-mode.ts';

type Take = CommandOf<'activateScript'>;

/** A version takes over: the first one, a repair, or an older one again. What it would drop is refused, or skipped by name. */
export function activateScript(draft: Draft, command: Take): ReplyTo<'activateScript'> {
  const workflow = workflowOf(draft, command.workflow);
  const script = checkScript(draft, workflow, command);
  mustBeNamed(command.by);
  mustFollow(draft, workflow, script, command);
  dropTopics(draft, workflow, script, command);
  keepOpenWork(draft, workflow, script, command);
  keepDeliveries(draft, workflow, script, command);
  draft.write({ set: 'workflow.script', workflow: workflow.id, from: workflow.activeScriptId, to: script.id });
  overtakeRequests(draft, workflow.id, command.by);
  exitMaintenance(draft, workflow.id, command.by, true);
  // By own names only: a producer may be called `constructor`.
  const scheduled = new Map(Object.entries(command.schedule ?? {}));
  for (const at of scheduled.values()) checkWhole('the time of a schedule', at);
  for (const { name } of script.handlers.producers) {
    keep(draft, keptState(draft, workflow.id, name), { nextAt: scheduled.get(name) ?? null });
  }
  for (const { name } of script.handlers.consumers)
    keep(draft, keptState(draft, workflow.id, name), { restedSeq: null });
  audit(draft, command.by, 'activate', script.id, `${script.major}.${script.minor}`);
  changeStanding(draft, workflow.id, { goLive: true, grantMissing: command.grantMissing ?? false });
  settle(draft, workflow.id, true);
  return { status: workflowRow(draft, workflow.id).status };
}

function checkScript(draft: Draft, workflow: Workflow, command: Take): Script {
  checkId('script', command.script);
  const script = draft.one('script', command.script) ?? notFound('script', command.script);
  if (script.workflowId !== workflow.id || workflow.status === 'archived') {
    const why = workflow.status === 'archived' ? 'the workflow is archived' : 'it is a version of another workflow';
    refuse('wrong-state', `version ${script.id} cannot be activated for ${workflow.name}`, why, {
      next: ['take a version of this workflow', 'create a new workflow for it'],
      ids: { workflow: workflow.id, script: script.id },
    });
  }
  return script;
}

/** Two people work on one workflow: the second must see what the first one changed before it is gone. */
function mustFollow(draft: Draft, workflow: Workflow, script: Script, { base }: Take): void {
  if (base === undefined || base === workflow.activeScriptId) return;
  const active = workflow.activeScriptId === null ? undefined : scriptRow(draft, workflow.activeScriptId);
  const now = active ? `version ${active.major}.${active.minor} by ${active.createdBy} is` : 'no version is';
  refuse(
    'wrong-state',
    `version ${script.major}.${script.minor} does not follow the active version of ${workflow.name}`,
    `its author started from another one, and ${now} active now`,
    {
      next: [
        { label: 'see the versions', argv: ['pawl', 'versions', workflow.name] },
        'take over what changed, and deploy from the active version',
      ],
      ids: { workflow: workflow.id, script: script.id, base, ...(active && { active: active.id }) },
    },
  );
}

function dropTopics(draft: Draft, workflow: Workflow, script: Script, command: Take): void {
  const dropped = draft.headsOf(workflow).filter((head) => !script.handlers.topics.includes(head.topic));
  const names = dropped.map((head) => head.topic).join(', ');
  if (dropped.length > 0 && !command.skipPending) {
    refuse(
      'wrong-state',
      `version ${script.major}.${script.minor} drops topics that have pending events: ${names}`,
      'nothing would ever read them',
      {
        next: ['keep the topics', { label: 'skip their events', argv: ['pawl', 'deploy', '--skip-pending'] }],
        ids: { workflow: workflow.id },
      },
    );
  }
  for (const { topic } of dropped) {
    draft.write({ set: 'topic.skipped', workflow: workflow.id, topic });
    audit(draft, command.by, 'skip pending', workflow.id, topic);
  }
}

/** Open work of a consumer that the new version lacks runs to its end under its own version, once a person said so. */
function keepOpenWork(draft: Draft, workflow: Workflow, script: Script, command: Take): void {
  const orphan = openRuns(draft, workflow).find((run) => droppedOf(draft, script, run) !== undefined);
  if (!orphan || command.skipPending) return;
  refuse(
    'wrong-state',
    `version ${script.major}.${script.minor} drops ${droppedOf(draft, script, orphan)}, which has open work`,
    `run ${orphan.id} is not done`,
    {
      next: [
        'answer or finish it first',
        { label: 'let it end under its own version', argv: ['pawl', 'deploy', '--skip-pending'] },
      ],
      ids: { workflow: workflow.id, run: orphan.id, script: scriptRow(draft, orphan.scriptId).id },
    },
  );
}

/** The active run, the pending retry, those with an open question or set aside. */
function openRuns(draft: Draft, workflow: Workflow): Run[] {
  const asked = draft.find('openLedger', workflow.id).map((row) => lastRunRow(draft, row.rootRunId));
  const pointed = workflow.pendingRetryRunId === null ? [] : draft.find('run', workflow.pendingRetryRunId);
  return [...asked, ...pointed, ...draft.find('activeRun', workflow.id)];
}

/**
 * What this run needs and the version lacks: its consumer, while it holds events; and the topics of these events, which may yet
 * be released, and of what it may still publish. Nobody would read a topic that is gone.
 */
function droppedOf(draft: Draft, script: Script, run: Run): string | undefined {
  const topics = draft.find('reserved', run.id).map((event) => event.topic);
  if (topics.length > 0 && !consumerSpec(script, run.handlerName)) return `consumer ${run.handlerName}`;
  if (run.status === 'active') topics.push(...publishesOf(scriptRow(draft, run.scriptId), run.handlerName));
  const lost = topics.find((topic) => !script.handlers.topics.includes(topic));
  return lost === undefined ? undefined : `topic ${lost}`;
}

function publishesOf({ handlers }: Script, name: string): readonly string[] {
  const handler = [...handlers.producers, ...handlers.consumers].find((declared) => declared.name === name);
  assert(handler, `a run of ${name} has no such handler`);
  return handler.publishes;
}

/** Deliveries that were accepted wait for a version that has their webhook; a person may leave them to one that comes later. */
function keepDeliveries(draft: Draft, workflow: Workflow, script: Script, command: Take): void {
  if (workflow.activeScriptId === null || command.skipPending) return;
  const kept = script.handlers.producers.filter((producer) => producer.webhook).map((producer) => producer.name);
  const dropped = scriptRow(draft, workflow.activeScriptId)
    .handlers.producers.filter((producer) => producer.webhook && !kept.includes(producer.name))
    .find((producer) => draft.find('deliveriesTo', workflow.id, producer.name).length > 0);
  if (!dropped) return;
  refuse(
    'wrong-state',
    `version ${script.major}.${script.minor} drops webhook ${dropped.name}, which has deliveries waiting`,
    'nothing would ever handle them',
    {
      next: [
        'let them be handled first',
        { label: 'leave them to a later version', argv: ['pawl', 'deploy', '--skip-pending'] },
      ],
      ids: { workflow: workflow.id, script: script.id },
    },
  );
}
