import type { Script, Workflow } from '#model';
import type { Teller } from './teller.ts';

const AUDIT_MAX = 100;
/** Whoever goes back further names the version. */
const VERSIONS_MAX = 100;

export function versionName({ major, minor }: Pick<Script, 'major' | 'minor'>): string {
  return `${major}.${minor}`;
}

/** When this version last took over; undefined when it never did. */
export async function activatedAt({ history }: Pick<Teller, 'history'>, script: Script): Promise<number | undefined> {
  return (await history.audit(script.id, AUDIT_MAX)).find((entry) => entry.act === 'activate')?.at;
}

/**
 * The version to go back to: the one that the active one took over from. One that takes over again undoes whatever came since it was
 * active last, so nobody is led back to what was gone back from.
 */
export async function versionBefore(teller: Pick<Teller, 'history'>, workflow: Workflow): Promise<Script | undefined> {
  const line: Script[] = [];
  for (const script of await takeovers(teller, workflow)) {
    const before = line.findIndex(({ id }) => id === script.id);
    if (before >= 0) line.length = before;
    line.push(script);
  }
  return line.at(-1)?.id === workflow.activeScriptId ? line.at(-2) : undefined;
}

/** The versions that took over, one after the other. */
async function takeovers({ history }: Pick<Teller, 'history'>, { id }: Workflow): Promise<readonly Script[]> {
  const versions = [...(await history.fetch('scriptsOf', id))].sort(newestFirst).slice(0, VERSIONS_MAX);
  const entries = await Promise.all(
    versions.map(async (script) => (await history.audit(script.id, AUDIT_MAX)).map((entry) => ({ ...entry, script }))),
  );
  const activations = entries.flat().filter(({ act }) => act === 'activate');
  return activations.sort((a, b) => a.seq - b.seq).map(({ script }) => script);
}

export function newestFirst(a: Script, b: Script): number {
  return b.major - a.major || b.minor - a.minor;
}
