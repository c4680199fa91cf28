import { RefusedError } from '#base';
import type { Mutation, Workflow } from '#model';
import { CALL } from '../support/fixture.ts';
import { HANDLERS, type Person } from './scenario.ts';
import { ADA, inCommits, inOneCommit, type Stage, View } from './stage.ts';

/** Answers whatever the workflow waits for, one act at a time, always after looking: at the rows, and at the world outside. */
export class PersonAtWork {
  readonly #stage: Stage;
  readonly #view: View;
  readonly #person: Person;
  #waitsUntil: number | null = null;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#view = new View(stage);
    this.#person = stage.scenario.person ?? {};
  }

  /** When a person would look again. */
  nextTime(): number | null {
    const expiring = this.#recordedCall();
    return this.#waitsUntil ?? (expiring === undefined ? null : expiring.approvalExpiresAt);
  }

  async act(): Promise<boolean> {
    const workflow = this.#view.workflow();
    if (workflow.status === 'archived') return false;
    return (
      (await this.#approve(workflow)) ||
      (await this.#mend(workflow)) ||
      (await this.#repair(workflow)) ||
      (await this.#answer()) ||
      (await this.#report()) ||
      (await this.#resume(workflow)) ||
      (await this.#takeUp(workflow))
    );
  }

  #recordedCall(): Mutation | undefined {
    return this.#view.mutations().find((row) => row.status === 'pending' && row.approvedAt === null);
  }

  async #approve(workflow: Workflow): Promise<boolean> {
    if (workflow.grantMissing) {
      this.#stage.outside.mend('granted');
      await inOneCommit(this.#stage, (model) => model.approveGrant(workflow.id, ADA));
      return true;
    }
    const recorded = this.#recordedCall();
    if (!recorded) return false;
    const plan = this.#person.approvals ?? ['approve'];
    const refusedBefore = this.#view.mutations().filter((row) => row.status === 'failed').length;
    const how = plan[Math.min(refusedBefore, plan.length - 1)] ?? 'approve';
    if (how === 'let it expire') return false;
    await inOneCommit(this.#stage, (model) => {
      if (how === 'approve') model.approveCall(recorded.id, ADA);
      else model.rejectCall(recorded.id, how === 'reject by skip' ? 'skip' : 'park', ADA);
    });
    return true;
  }

  async #mend(workflow: Workflow): Promise<boolean> {
    if (!workflow.holds.includes('connection')) return false;
    this.#stage.outside.mend('cured');
    await inOneCommit(this.#stage, (model) => model.cureConnection(CALL.connection, ADA));
    return true;
  }

  async #repair(workflow: Workflow): Promise<boolean> {
    const { id, maintenanceRunId, pendingRetryRunId } = workflow;
    const isKnown = this.#stage.rows.fetch('openTasks', id).some(({ runId }) => runId === maintenanceRunId);
    if (maintenanceRunId === null || !isKnown) return false;
    const { suspects } = this.#view.run(maintenanceRunId);
    const pending = suspects.filter((event) => this.#view.event(event).status === 'pending');
    const how = this.#person.repair ?? 'new version';
    if (how === 'new version') return this.#deployRepair(workflow);
    if (how === 'exit maintenance' || how === 'try as it is') this.#stage.outside.mend('repaired');
    await inOneCommit(this.#stage, (model) => {
      if (how === 'finish without next' && pendingRetryRunId) model.finishWithoutNext(pendingRetryRunId, ADA);
      else if (how === 'skip the events') model.skipEvents(pending, ADA);
      else if (how === 'park the events') model.parkEvents(pending, ADA);
      else model.exitMaintenanceMode(id, ADA, how === 'exit maintenance');
    });
    return true;
  }

  /** The next version, if nobody has added it yet; then it takes over. */
  async #deployRepair(workflow: Workflow): Promise<boolean> {
    const { rows, scenario } = this.#stage;
    const scripts = rows.fetch('scriptsOf', workflow.id);
    const newest = Math.max(...scripts.map(({ minor }) => minor));
    let added = scripts.find(({ id, minor }) => minor === newest && id !== workflow.activeScriptId)?.id;
    const handlers = scenario.handlers ?? HANDLERS;
    const version = {
      major: 1,
      minor: newest + 1,
      contentHash: 'repair',
      code: 'export default {}',
      handlers,
      by: ADA,
    };
    await inCommits(this.#stage, [
      (model) => {
        added ??= model.addScript(workflow.id, version).script;
        return true;
      },
      (model) => {
        if (added) model.activateScript(workflow.id, added, { by: ADA });
        return true;
      },
    ]);
    return true;
  }

  /** Open questions that hold the workflow first; those set aside when nothing else is left to do. */
  async #answer(): Promise<boolean> {
    const open = this.#view.mutations().filter((row) => this.#isAsked(row));
    const question = open.find((row) => row.setAsideAt === null) ?? (this.#isElsewhereDone() ? open[0] : undefined);
    if (!question) return false;
    const how = this.#person.unknown ?? 'truth';
    if (how.startsWith('set aside') && question.setAsideAt === null) {
      await inOneCommit(this.#stage, (model) => model.setAside(question.id, ADA));
      return true;
    }
    if (how === 'check again' && question.status === 'indeterminate' && question.canReconcile) {
      await inOneCommit(this.#stage, (model) => model.checkAgain(question.id, ADA));
      return true;
    }
    if (how === 'skip' || how === 'set aside, then skip') {
      await inOneCommit(this.#stage, (model) => model.skipMutation(question.id, ADA));
      return true;
    }
    return this.#sayTruth(question);
  }

  #isAsked(row: Mutation): boolean {
    return row.status === 'indeterminate' || (row.status === 'needs_reconcile' && this.#person.impatient === true);
  }

  #isElsewhereDone(): boolean {
    const { dueAt } = this.#view.workflow();
    return this.#view.unread().length === 0 && (dueAt === null || dueAt > this.#stage.outside.now());
  }

  /** What is not there yet may still come: the engine says from when on "it didn't happen" can be known. */
  async #sayTruth(question: Mutation): Promise<boolean> {
    const landed = this.#stage.outside.hasLanded(question);
    try {
      await inOneCommit(this.#stage, (model) =>
        model.updateMutationResult(question.id, landed ? 'success' : 'failure', {
          answer: { resolvedBy: landed ? 'user_assert_applied' : 'user_assert_failed', by: ADA },
          result: landed ? '{"ref":1}' : undefined,
        }),
      );
      this.#waitsUntil = null;
      return true;
    } catch (error) {
      if (!(error instanceof RefusedError) || error.notBefore === undefined) throw error;
      this.#waitsUntil = error.notBefore;
      return false;
    }
  }

  async #report(): Promise<boolean> {
    if (!this.#person.reportsLateAnswers) return false;
    const { rows, outside } = this.#stage;
    const known = new Set(rows.table('evidence').map(({ mutationId }) => mutationId));
    const answered = this.#view.mutations().find((row) => row.resolvedByName !== null && !known.has(row.id));
    if (!answered) return false;
    const says = outside.hasLanded(answered) ? 'applied' : 'failed';
    const evidence = { says, detail: 'a late answer', source: 'shop' } as const;
    await inOneCommit(this.#stage, (model) => model.recordEvidence(answered.id, evidence));
    return true;
  }

  async #resume(workflow: Workflow): Promise<boolean> {
    const { holds, id } = workflow;
    const may = !holds.includes('unknown') && !holds.includes('approval');
    if (!may || !(holds.includes('user') || holds.includes('error'))) return false;
    this.#stage.outside.mend('looked at');
    await inOneCommit(this.#stage, (model) => model.resumeWorkflow(id, ADA));
    return true;
  }

  /** What nobody is waiting for any more, but this person still wants. */
  async #takeUp(workflow: Workflow): Promise<boolean> {
    if (workflow.dueAt !== null || workflow.status !== 'active') return false;
    if (workflow.quiet) {
      await inOneCommit(this.#stage, (model) => model.requestExecution(workflow.id, 'manual', ADA));
      return true;
    }
    return (
      (await this.#takeUpParked()) ||
      (await this.#redo()) ||
      (await this.#setState(workflow)) ||
      (await this.#archive(workflow))
    );
  }

  async #takeUpParked(): Promise<boolean> {
    const parked = this.#view.events().filter((event) => event.status === 'parked');
    const how = this.#person.parked ?? 'leave';
    if (parked.length === 0 || how === 'leave') return false;
    const ids = parked.map((event) => event.id);
    await inOneCommit(this.#stage, (model) => {
      if (how === 'unpark') model.unparkEvents(ids, ADA);
      else model.skipEvents(ids, ADA);
    });
    return true;
  }

  async #redo(): Promise<boolean> {
    const events = this.#view.events();
    const wanted = events.find(
      ({ id, messageId, status }) =>
        this.#person.redoes?.includes(messageId) &&
        (status === 'consumed' || status === 'skipped') &&
        !events.some(({ redoOf }) => redoOf === id),
    );
    if (!wanted) return false;
    await inOneCommit(this.#stage, (model) => model.redoEvents([wanted.id], ADA));
    return true;
  }

  async #setState({ id }: Workflow): Promise<boolean> {
    if (!this.#person.mendsState || this.#view.hasDone('set state')) return false;
    await inOneCommit(this.#stage, (model) => model.setHandlerState(id, 'send', '0', ADA));
    return true;
  }

  async #archive(workflow: Workflow): Promise<boolean> {
    const isOpen = this.#stage.rows.fetch('openExecutions', workflow.id).length > 0;
    if (this.#person.finally !== 'archive' || isOpen || this.#view.unread().length > 0) return false;
    await inOneCommit(this.#stage, (model) => model.archiveWorkflow(workflow.id, ADA));
    return true;
  }
}
