import type { Script, Workflow } from '#model';
import type { Teller } from './teller.ts';

const AUDIT_MAX = 100;

export function versionName({ major, minor }: Pick<Script, 'major' | 'minor'>): string {
  return `${major}.${minor}`;
}

/** When this version last took over; undefined when it never did. */
export function activatedAt({ history }: Pick<Teller, 'history'>, script: Script): number | undefined {
  return history.audit(script.id, AUDIT_MAX).find((entry) => entry.act === 'activate')?.at;
}

/** The version to go back to: the newest below the active one that was ever active. */
export function versionBefore(teller: Pick<Teller, 'history'>, workflow: Workflow): Script | undefined {
  const versions = [...teller.history.fetch('scriptsOf', workflow.id)].sort(newestFirst);
  const active = versions.findIndex((script) => script.id === workflow.activeScriptId);
  if (active < 0) return undefined;
  return versions.slice(active + 1).find((script) => activatedAt(teller, script) !== undefined);
}

export function newestFirst(a: Script, b: Script): number {
  return b.major - a.major || b.minor - a.minor;
}
