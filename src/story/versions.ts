import type { Script, Workflow } from '#model';
import type { Teller } from './teller.ts';

const AUDIT_MAX = 100;

export function versionName({ major, minor }: Pick<Script, 'major' | 'minor'>): string {
  return `${major}.${minor}`;
}

/** When this version last took over; undefined when it never did. */
export async function activatedAt({ history }: Pick<Teller, 'history'>, script: Script): Promise<number | undefined> {
  return (await history.audit(script.id, AUDIT_MAX)).find((entry) => entry.act === 'activate')?.at;
}

/** The version to go back to: the newest below the active one that was ever active. */
export async function versionBefore(teller: Pick<Teller, 'history'>, workflow: Workflow): Promise<Script | undefined> {
  const versions = [...(await teller.history.fetch('scriptsOf', workflow.id))].sort(newestFirst);
  const active = versions.findIndex((script) => script.id === workflow.activeScriptId);
  if (active < 0) return undefined;
  for (const script of versions.slice(active + 1)) {
    if ((await activatedAt(teller, script)) !== undefined) return script;
  }
  return undefined;
}

export function newestFirst(a: Script, b: Script): number {
  return b.major - a.major || b.minor - a.minor;
}
