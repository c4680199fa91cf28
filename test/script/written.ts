import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CompiledScript, compileScript, type Finding, validateScript } from '#script';
import { CATALOGUE } from '../sdk/more-connectors.ts';
import { describeInVm } from './describe-in-vm.ts';

type Texts = Readonly<Record<string, string>>;
interface Cleanup {
  after(done: () => void): void;
}

/** Writes a small project of its own for one test and gives its folder. */
export function written(t: Cleanup, texts: Texts): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-script-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export async function compiled(file: string): Promise<CompiledScript> {
  return await compileScript({ file, describe: describeInVm, connectors: CATALOGUE });
}

export async function findingsOf(file: string): Promise<Finding[]> {
  return await validateScript({ file, describe: describeInVm, connectors: CATALOGUE });
}

/** The findings, as `path:line code`, with the paths relative to the project. */
export async function found(t: Cleanup, texts: Texts, entry = 'flow.ts'): Promise<string[]> {
  const folder = written(t, texts);
  const findings = await findingsOf(join(folder, entry));
  for (const finding of findings) {
    for (const words of [finding.message, finding.why, finding.fix]) assert.ok(words.length > 10, words);
    assert.ok(finding.line >= 1 && finding.column >= 1);
  }
  return findings.map(({ file, line, code }) => `${file.slice(folder.length + 1)}:${line} ${code}`).sort();
}

/**
 * Checks that exactly the marked lines are found wrong. A line that ends in `//! code` is wrong in that way, one that ends
 * in `//! code, code` in both.
 */
export async function assertMarked(t: Cleanup, texts: Texts, entry = 'flow.ts'): Promise<void> {
  const marked = Object.entries(texts).flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const codes = /\/\/! (.*)$/.exec(line)?.[1]?.split(', ') ?? [];
      return codes.map((code) => `${path}:${index + 1} ${code}`);
    }),
  );
  assert.deepEqual(await found(t, texts, entry), marked.sort());
}
