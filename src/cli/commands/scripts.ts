import type { Command } from 'commander';
import { PawlError } from '#base';
import type { CompiledScript, Finding } from '#script';
import { type Client, part } from '../client.ts';
import { type Act, type Common, define, type Ended } from '../command.ts';
import { type Checked, compileFiles, isMissing } from '../compile-file.ts';
import { EngineAnswerError } from '../engine-errors.ts';
import { EXIT } from '../exit-code.ts';
import { flagsOf } from '../flags-of.ts';
import { SCHEMA } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { plural, typed } from '../words.ts';

interface DeployOptions extends Common {
  readonly activate: boolean;
  readonly base?: string;
  readonly skipPending?: boolean;
  readonly major?: boolean;
  readonly allow?: boolean;
}

interface Deployed {
  readonly workflow: string;
  readonly script: string;
  readonly version: string;
  readonly isNew: boolean;
  readonly activated: boolean;
  readonly status: string;
  readonly inFlight?: unknown;
  readonly undo?: readonly string[] | null;
  readonly name: string;
  readonly missing: readonly { readonly sentence: string }[];
  readonly request: string | null;
}

export function addScripts(program: Command, terminal: Terminal, ended: Ended): void {
  const validate = program
    .command('validate <files...>')
    .description('say what is wrong with scripts, line by line; needs no engine');
  define<[string[]]>(terminal, ended, validate, async (act, files) => {
    const checked = await compileFiles(files);
    const findings = checked.flatMap((each) => each.findings);
    const valid = checked.every((each) => each.compiled !== undefined);
    act.print({ schema: SCHEMA, valid, files, findings }, () =>
      [
        ...findings.map(findingText),
        ...checked.flatMap(({ file, compiled }) => (compiled ? [`${file} is valid: ${summaryOf(compiled)}\n`] : [])),
      ].join(''),
    );
    if (valid) return EXIT.ok;
    return checked.every((each) => each.compiled !== undefined || isMissing(each)) ? EXIT.notFound : EXIT.invalidScript;
  });

  const deploy = program
    .command('deploy <file>')
    .description('make a file a version of its workflow, and let it take over')
    .option('--no-activate', 'keep the version, but do not let it take over')
    .option('--base <version>', 'refuse unless this version is the active one')
    .option('--skip-pending', 'skip the pending events of what this version no longer has')
    .option('--major', 'give it the next major number')
    .option('--allow', 'allow what it asks of its connections, without asking back')
    .option('--no-allow', 'let it wait for somebody else to allow what it asks for');
  define<[string], DeployOptions>(terminal, ended, deploy, async (act, file) => {
    const { compiled, findings } = await compiledFrom(act, file);
    const { name, code, sourceMap, contentHash, calls } = compiled;
    const { activate, base, skipPending, major } = act.options;
    // A person at a terminal sees what is asked for before it is allowed.
    const allow = act.options.allow ?? (terminal.isInteractive && !act.json ? false : undefined);
    act.progress(`deploying ${name} …`);
    const engine = await act.engine();
    const sent = engine.post<Deployed>('/api/deploy', {
      name,
      code,
      sourceMap,
      contentHash,
      calls,
      activate,
      ...(allow !== undefined && { allow }),
      ...(base !== undefined && { base }),
      ...(skipPending === true && { skipPending }),
      ...(major === true && { major }),
    });
    const first = await sent.catch((error: unknown) => {
      throw withFile(error, file, act.options);
    });
    const answer = act.options.allow === undefined && allow === false ? await allowed(terminal, engine, first) : first;
    if (!act.json) terminal.err(findings.map(findingText).join(''));
    act.print({ ...answer, findings }, () => deployedText(name, answer));
    return undefined;
  });
}

/** The engine knows neither the file nor what else was typed. */
function withFile(error: unknown, file: string, { url, data, base, major, allow }: DeployOptions): unknown {
  if (!(error instanceof EngineAnswerError)) return error;
  const given = flagsOf({ url, data, base, major, allow });
  return error.withNext(
    error.next.map(({ label, argv }) => {
      if (argv === undefined) return { label };
      const at = argv.indexOf('FILE');
      return { label, argv: at < 0 ? argv : [...argv.slice(0, at), file, ...given, ...argv.slice(at + 1)] };
    }),
  );
}

/** Asks whoever sits here, and lets the version take over when they say so. */
async function allowed(terminal: Terminal, engine: Client, deployed: Deployed): Promise<Deployed> {
  if (deployed.request === null) return deployed;
  terminal.err(`${deployed.name} ${deployed.version}\n${askLines(deployed.missing).join('\n')}\n`);
  if (!(await terminal.confirm('allow this?'))) return deployed;
  const { status } = await engine.post<{ status: string }>(`/api/requests/${part(deployed.request)}/allow`);
  return { ...deployed, status, activated: true, request: null };
}

function askLines(asks: Deployed['missing']): string[] {
  return asks.map(({ sentence }) => `  ${sentence}`);
}

/** A file that compiles, with its warnings; one that does not ends the command, with every finding said. */
export async function compiledFrom(
  act: Act<Common>,
  file: string,
): Promise<{ readonly compiled: CompiledScript; readonly findings: readonly Finding[] }> {
  act.progress(`compiling ${file} …`);
  const [checked] = await compileFiles([file]);
  if (checked?.compiled) return { compiled: checked.compiled, findings: checked.findings };
  if (checked && isMissing(checked)) throw fileMissing(checked);
  if (!act.json) act.terminal.err(checked?.findings.map(findingText).join('') ?? '');
  const { ScriptInvalidError } = await import('#script');
  throw new ScriptInvalidError(file, checked?.findings ?? []);
}

function fileMissing({ file, findings: [first] }: Checked): PawlError {
  return new PawlError({
    code: 'file-missing',
    message: first?.message ?? `there is no file ${file}`,
    why: first?.why ?? 'a workflow is read from a file',
    next: first === undefined ? [] : [{ label: first.fix }],
  });
}

export function findingText({ file, line, column, severity, message, why, fix }: Finding): string {
  return `${file}:${line}:${column} ${severity}: ${message}\n  why: ${why}\n  fix: ${fix}\n`;
}

function summaryOf({ name, handlers }: CompiledScript): string {
  const { topics, producers, consumers } = handlers;
  return `workflow ${name}, ${plural(producers.length, 'producer')}, ${plural(consumers.length, 'consumer')}, ${plural(topics.length, 'topic')}`;
}

function deployedText(name: string, answer: Deployed): string {
  const { version, isNew, activated, status, workflow, script, inFlight, undo, missing, request } = answer;
  const lines = [
    `${name} ${version} ${isNew ? 'is deployed' : 'was deployed before: its content is the same'}, ${activated ? 'and active' : 'and waits to be activated'}; the workflow is ${status}`,
    `  workflow: ${workflow}`,
    `  version: ${script}`,
    ...(missing.length === 0 ? [] : [request === null ? '  allowed with it:' : '  not allowed yet:']),
    ...askLines(missing).map((line) => `  ${line}`),
    ...(request === null ? [] : [`  it waits: ${typed(['pawl', 'approve', request])}`]),
    ...inFlightLines(inFlight),
    ...(undo === undefined || undo === null ? [] : [`  undo: ${typed(undo)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

function inFlightLines(inFlight: unknown): string[] {
  const all = Array.isArray(inFlight) ? inFlight : inFlight === undefined || inFlight === null ? [] : [inFlight];
  return all.map((each) => `  in flight: ${typeof each === 'string' ? each : JSON.stringify(each)}`);
}
