import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = dirname(dirname(import.meta.dirname));
const MIGRATIONS = 'src/store/schema/migrations.ts';

/** The sources as they were before the tables last changed, in a folder of their own. */
export interface OldVersion {
  readonly root: string;
  readonly commit: string;
  remove(): void;
}

/** Undefined where the history is not there: in an archive of the sources, or a clone that is not deep enough. */
export function bringOldVersion(commit = commitBefore()): OldVersion | undefined {
  if (commit === undefined) return undefined;
  const root = mkdtempSync(join(tmpdir(), 'pawl-old-'));
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  // What both versions are made of besides; a package that only one of them knows does no harm.
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { root, commit, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** The parent of the commit that last changed the list of migrations. */
function commitBefore(): string | undefined {
  if (!existsSync(join(ROOT, '.git'))) return undefined;
  try {
    const changed = git('log', '-1', '--format=%H', '--', MIGRATIONS);
    return changed === '' ? undefined : git('rev-parse', '--verify', '--quiet', `${changed}^`);
  } catch {
    return undefined;
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
