import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PawlError } from '#base';
import type { MatrixRow, Rehearsal, RehearsedCall, Samples } from '#rehearse';
import { part } from '../client.ts';
import { type Act, type Common, define, type Ended } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { DATA_FOLDER } from '../find-engine.ts';
import { CONFIG_FILE, loadConfig } from '../load-config.ts';
import { parseJson } from '../parse-json.ts';
import { SCHEMA } from '../print-error.ts';
import { secretSource } from '../secrets.ts';
import { type Column, oneLine, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { plural } from '../words.ts';
import { compiledFrom, findingText } from './scripts.ts';

interface RehearseOptions extends Common {
  readonly events?: string;
  readonly fromEngine?: boolean;
  readonly workflow?: string;
  readonly limit: number;
  readonly producers?: boolean;
  readonly allowReads?: boolean;
  readonly config?: string;
}

const LIMIT = 20;
const LIMIT_MAX = 1_000;

/** A workflow tried out with the real engine, with every effect captured, and then killed at every place. */
export function addRehearse(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('rehearse <file>')
    .description(
      'run a script with every effect captured, then with a crash at every point; nothing leaves this machine',
    )
    .option('--events <file>', 'sample events, and what reads and calls answer (JSON)')
    .option('--from-engine', 'take the newest events of the engine’s workflow, and what it read and was answered')
    .option('--workflow <name>', 'with --from-engine: take them of this workflow')
    .addOption(new Option('--limit <number>', 'with --from-engine: how many events').argParser(limitOf).default(LIMIT))
    .option('--producers', 'let producers run too; without any event they always do')
    .option('--allow-reads', 'make reads that nothing is recorded of, through the connections of the config')
    .option('--config <file>', `connections and credentials (${CONFIG_FILE} here, if there is one)`);
  define<[string], RehearseOptions>(terminal, ended, command, async (act, file) => {
    const { compiled, findings } = await compiledFrom(act, file);
    const samples = await samplesFor(act, compiled.name);
    const { config, folder } = await loadConfig(act.options.config);
    const { matrixOf, rehearse } = await import('#rehearse');
    const dataDir = act.options.data ?? terminal.env.PAWL_DATA ?? DATA_FOLDER;
    const hasInput = samples.events.length + samples.deliveries.length > 0;
    const rehearsal = await rehearse({
      compiled,
      samples,
      config,
      baseFolder: folder,
      resolveSecret: secretSource(dataDir, terminal.env),
      withProducers: act.options.producers === true || !hasInput,
      allowReads: act.options.allowReads === true,
      onProgress: (tried, all) => {
        if (tried % PROGRESS_EVERY === 0) act.progress(`${tried} of ${all} crash points tried …`);
      },
    });
    const matrix = matrixOf(rehearsal.crashPoints);
    const { isSound: ok, ...rest } = rehearsal;
    if (!act.json) terminal.err(findings.map(findingText).join(''));
    act.print({ schema: SCHEMA, ok, file, ...rest, matrix, findings }, () => rehearsalText(rehearsal, matrix));
    return ok ? EXIT.ok : EXIT.failed;
  });
}

const PROGRESS_EVERY = 25;

async function samplesFor(act: Act<RehearseOptions>, name: string): Promise<Samples> {
  const { joinSamples, NO_SAMPLES } = await import('#rehearse');
  const { events, fromEngine, workflow, limit } = act.options;
  const recorded = fromEngine === true ? await recordedBy(act, workflow ?? name, limit) : NO_SAMPLES;
  return events === undefined ? recorded : joinSamples(recorded, await samplesIn(events));
}

/** What an engine has of a workflow, in the shape of samples. */
async function recordedBy(act: Act<RehearseOptions>, workflow: string, limit: number): Promise<Samples> {
  const engine = await act.engine();
  const path = `/api/workflows/${part(workflow)}/recorded`;
  const { samples } = await engine.get<{ samples: unknown }>(path, { limit });
  return samplesOf(samples, `what ${engine.url} has recorded`);
}

async function samplesIn(file: string): Promise<Samples> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    if (!isNoFile(error)) throw new UsageError(`${file} cannot be read`, why);
    const next = [{ label: 'name a file with sample events' }];
    throw new PawlError({ code: 'file-missing', message: `there is no file ${file}`, why, next });
  });
  return samplesOf(parseJson(file, text), file);
}

function isNoFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function samplesOf(value: unknown, what: string): Promise<Samples> {
  const { parseSamples } = await import('#rehearse');
  const parsed = parseSamples(value);
  if ('samples' in parsed) return parsed.samples;
  throw new UsageError(
    `${what} cannot be rehearsed with: ${parsed.problem}`,
    'samples are a list of events, or an object with events, deliveries, reads, mutations and states',
    [{ label: 'for example [{ "topic": "order.placed", "payload": { "id": "1" } }]' }],
  );
}

function rehearsalText(rehearsal: Rehearsal, matrix: readonly MatrixRow[]): string {
  const { workflow, runs, calls, events, crashPoints, crashPointCount, problems, notes } = rehearsal;
  const tried =
    crashPoints.length === crashPointCount
      ? `${plural(crashPointCount, 'crash point')} tried`
      : `${crashPoints.length} of ${crashPointCount} crash points tried`;
  return [
    `${workflow}: ${plural(runs, 'run')}, ${plural(calls.length, 'call')} captured; nothing left this machine\n`,
    ...(calls.length === 0 ? [] : ['\n', table(CALLS, calls, undefined)]),
    `\nevents at the end: ${
      Object.entries(events)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ') || 'none'
    }\n`,
    ...(matrix.length === 0 ? [] : ['\nif the engine died:\n\n', table(MATRIX, matrix, undefined)]),
    ...matrix.flatMap((row) =>
      row.problems.map((problem) => `WRONG: ${nameOf(row)}, ${row.when}: ${oneLine(problem)}\n`),
    ),
    ...problems.map((problem) => `WRONG: ${oneLine(problem)}\n`),
    ...notes.map((note) => `note: ${oneLine(note)}\n`),
    problems.length > 0
      ? 'without a crash it does not work, so none was tried\n'
      : `${tried}: ${rehearsal.isSound ? 'every effect once, and nothing lost' : 'not everything came out as without a crash'}\n`,
  ].join('');
}

const CALLS: readonly Column<RehearsedCall>[] = [
  { title: 'handler', text: ({ handler }) => handler },
  { title: 'title', text: ({ title }) => title ?? '–' },
  { title: 'call', text: ({ preview }) => preview.split('\n')[0] ?? '' },
  { title: '', text: ({ needsApproval }) => (needsApproval ? 'after your approval' : '') },
];

const MATRIX: readonly Column<MatrixRow>[] = [
  { title: 'handler', text: (row) => nameOf(row) },
  { title: 'when', text: ({ when }) => when },
  { title: 'what it does', text: ({ words }) => words },
  { title: 'tried', text: ({ count }) => String(count), align: 'right' },
  { title: '', text: ({ isSound }) => (isSound ? 'ok' : 'WRONG') },
];

function nameOf({ handler }: MatrixRow): string {
  return handler ?? '–';
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`a limit is a number from 1 to ${LIMIT_MAX}.`);
}
