import { realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { type Bundle, bundleScript, type Problem } from './bundle.ts';
import { withBundler } from './bundler.ts';
import { type Calls, CallsRead } from './calls.ts';
import type { Catalogue } from './catalogue.ts';
import { checkDeclared } from './check-declared.ts';
import { checkMissingGlobals, checkSharedGlobals } from './check-globals.ts';
import { checkPhases } from './check-phases.ts';
import { type CompiledScript, compiledScript, type Describe, declare } from './compiled-script.ts';
import type { Declared, Report } from './declared.ts';
import {
  type Complaint,
  errorAt,
  type Finding,
  inOrder,
  type Place,
  ScriptInvalidError,
  warningAt,
} from './finding.ts';
import { Modules } from './modules.ts';
import type { Sources } from './sources.ts';
import { WorkflowSource } from './workflow-source.ts';

export interface CompileOptions {
  readonly file: string;
  /** Runs the top level of the code where it can do no harm. */
  readonly describe: Describe;
  readonly connectors: Catalogue;
}

/** The script, ready to be kept as a version; throws ScriptInvalidError when anything is wrong with it. */
export async function compileScript(options: CompileOptions): Promise<CompiledScript> {
  const { findings, declared, bundle, calls } = await examine(options);
  if (findings.some((finding) => finding.severity === 'error') || !declared || !bundle) {
    throw new ScriptInvalidError(options.file, findings);
  }
  return compiledScript(declared, bundle, calls, findings);
}

/** Everything wrong with a script, in the order of its lines; empty when it can be deployed without a word. */
export async function validateScript(options: CompileOptions): Promise<Finding[]> {
  return (await examine(options)).findings;
}

const TOO_DEEP: Complaint = {
  code: 'syntax',
  message: 'the file is nested too deeply to be read',
  why: 'what cannot be read cannot be checked',
  fix: 'write it in smaller pieces; data of that size belongs in a .json file',
};

interface Examined {
  readonly findings: Finding[];
  readonly declared: Declared | undefined;
  readonly bundle: Bundle | undefined;
  readonly calls: Calls;
}

function examine(options: CompileOptions): Promise<Examined> {
  return withBundler(() => examineWithBundler(options));
}

async function examineWithBundler({ file, describe, connectors }: CompileOptions): Promise<Examined> {
  const path = await realpath(resolve(file)).catch(() => resolve(file));
  const shown = (at: string): string => join(dirname(file), relative(dirname(path), at));
  const findings: Finding[] = [];
  const report: Report = (place, complaint) => findings.push(errorAt(place, complaint));
  const warn: Report = (place, complaint) => findings.push(warningAt(place, complaint));

  const { sources, bundle, problems } = await bundleScript(path);
  const modules = await Modules.read(sources, shown);
  for (const problem of problems) report(placeOfProblem(problem, sources, modules, shown), problem.complaint);
  if (problems.length === 0) {
    for (const unread of modules.unread()) report({ file: shown(unread), line: 1, column: 1 }, TOO_DEEP);
  }
  let declared: Declared | undefined;
  const calls = new CallsRead();
  try {
    const source = new WorkflowSource(modules);
    const isDescribable = checkDefault(modules, report) && problems.length === 0;
    checkRepeated(source, report);
    if (bundle && isDescribable) declared = await declare(bundle, describe, source, shownFrom(file), report, warn);
    if (declared) checkDeclared(declared, source, connectors, report, warn);
    checkSource({ declared, catalogue: connectors, modules, source, report, warn, calls });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    report({ file, line: 1, column: 1 }, TOO_DEEP);
  }
  return { findings: inOrder(findings), declared, bundle, calls: calls.of(declared?.uses ?? {}, connectors) };
}

function checkSource(world: Parameters<typeof checkPhases>[0]): void {
  checkPhases(world);
  for (const module of world.modules.all) {
    checkMissingGlobals(module, world.report);
    checkSharedGlobals(module, world.warn);
  }
}

/** A problem inside a package is shown where the author let it in. */
function placeOfProblem(
  { path, line, column }: Problem,
  sources: Sources,
  modules: Modules,
  shown: (path: string) => string,
): Place {
  const via = sources.ownerOf(path) === 'package' ? sources.authorImport(path) : undefined;
  const module = modules.all.find((one) => one.path === via?.importer);
  const node = via && module?.importOf(via.specifier);
  return module && node ? module.placeOf(node) : { file: shown(path), line, column };
}

function checkDefault(modules: Modules, report: Report): boolean {
  if (!modules.entry || modules.entry.exports.has('default')) return modules.entry !== undefined;
  report(modules.entry.placeOf(modules.entry.program), {
    code: 'no-default-export',
    message: 'the file has no default export',
    why: 'the workflow of a file is what it exports as its default',
    fix: 'write export default defineWorkflow({ … })',
  });
  return false;
}

function checkRepeated({ handlers }: WorkflowSource, report: Report): void {
  handlers.forEach(({ name, at }, index) => {
    if (handlers.findIndex((handler) => handler.name === name) === index) return;
    report(at.module.placeOf(at.node), {
      code: 'duplicate-name',
      message: `two handlers are named "${name}"`,
      why: 'state, runs and commands know a handler by its name',
      fix: 'give each its own name',
    });
  });
}

function shownFrom(file: string): (source: string) => string {
  return (source) => join(dirname(file), source);
}
