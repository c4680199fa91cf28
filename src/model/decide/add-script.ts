import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX, RESULT_CHARS_MAX } from '../limits.ts';
import type { Handlers } from '../rows.ts';
import { audit, mustBeNamed, workflowOf } from '../rule/find.ts';
import { checkJson, checkText, refuse } from '../rule/refusal.ts';

/** A valid version is kept; it does nothing until it is activated. */
export function addScript(draft: Draft, command: CommandOf<'addScript'>): ReplyTo<'addScript'> {
  const workflow = workflowOf(draft, command.workflow);
  const { major, minor, contentHash, code, handlers, by } = command;
  const manifest = command.manifest ?? '{}';
  checkJson('the manifest', manifest, RESULT_CHARS_MAX);
  mustBeNamed(by);
  checkText('the code', code, RESULT_CHARS_MAX);
  checkText('the content hash', contentHash, NAME_CHARS_MAX);
  if (workflow.status === 'archived')
    refuse('wrong-state', `workflow ${workflow.name} is archived`, 'it takes no new versions', {
      next: ['create a new workflow for it'],
      ids: { workflow: workflow.id },
    });
  checkVersion(draft, command);
  checkHandlers(handlers);
  const id = draft.newId('script');
  const row = { id, workflowId: workflow.id, major, minor, contentHash, handlers, createdAt: draft.now, createdBy: by };
  draft.write({ set: 'script.added', row, code, manifest });
  if (workflow.status === 'draft') {
    const { errorReason, heldConnections, grantMissing } = workflow;
    draft.write({
      set: 'workflow.standing',
      workflow: workflow.id,
      from: 'draft',
      to: 'ready',
      holds: [],
      errorReason,
      heldConnections,
      grantMissing,
    });
  }
  audit(draft, by, 'add version', id, `${major}.${minor}`);
  return { script: id };
}

function checkVersion(draft: Draft, { workflow, major, minor }: CommandOf<'addScript'>): void {
  if (!Number.isSafeInteger(major) || !Number.isSafeInteger(minor) || major < 0 || minor < 0) {
    refuse('invalid', `${major}.${minor} is not a version`, 'major and minor are whole numbers from 0', {
      next: ['number it like 1.0'],
    });
  }
  const known = draft.find('scriptsOf', workflow).find((script) => script.major === major && script.minor === minor);
  if (known)
    refuse('wrong-state', `version ${major}.${minor} exists already`, 'a version never changes', {
      next: ['take the next number'],
      ids: { script: known.id },
    });
}

/** One consumer a topic, one name a handler: what the rules of a session rely on. */
function checkHandlers({ topics, producers, consumers }: Handlers): void {
  const names = [...producers, ...consumers].map((handler) => handler.name);
  for (const name of [...names, ...topics]) checkText('a name of a handler or topic', name, NAME_CHARS_MAX);
  const repeated = names.find((name, position) => names.indexOf(name) !== position);
  if (repeated !== undefined) {
    refuse('invalid', `two handlers are named ${repeated}`, 'a name names one handler', {
      next: ['rename one of them'],
    });
  }
  const subscribed = consumers.flatMap((consumer) => consumer.subscribe);
  const shared = subscribed.find((topic, position) => subscribed.indexOf(topic) !== position);
  if (shared !== undefined) {
    refuse('invalid', `two consumers subscribe to topic ${shared}`, 'an event is consumed once', {
      next: ['publish to two topics'],
    });
  }
  const used = [...subscribed, ...[...producers, ...consumers].flatMap((handler) => handler.publishes)];
  const undeclared = used.find((topic) => !topics.includes(topic));
  if (undeclared !== undefined)
    refuse('invalid', `topic ${undeclared} is not declared`, 'topics are declared by the workflow', {
      next: ['declare it'],
    });
}
