import { assert, type ScriptId, type WorkflowId } from '#base';
import type { WorkflowStatus } from '#model';
import { type Manifest, nextTick, parseManifest } from '#script';
import type { App } from './start-app.ts';

export interface ActivateOptions {
  readonly by: string;
  readonly skipPending?: boolean | undefined;
  readonly base?: ScriptId | undefined;
}

/** A version that is kept takes over: a new one, or an older one again. */
export async function activate(
  app: App,
  workflow: WorkflowId,
  script: ScriptId,
  options: ActivateOptions,
): Promise<{ status: WorkflowStatus }> {
  const kept = await app.engine.reader.scriptCode(script);
  assert(kept, `version ${script} is missing`);
  const schedule = firstTicks(parseManifest(kept.manifest), app.clock.now());
  return app.engine.manager.activateScript(workflow, script, { ...options, schedule });
}

/** A producer runs first when its version is activated; a cron line at its next time. */
function firstTicks({ schedules }: Manifest, now: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(schedules).flatMap(([name, schedule]) => {
      const at = 'intervalMs' in schedule ? now : nextTick(schedule, now);
      return at === null ? [] : [[name, at]];
    }),
  );
}
