import { type Command, Option } from 'commander';
import { idShapeOf, type NextStep, PawlError } from '#base';
import { part } from '../client.ts';
import { type Act, type Common, define, type Ended } from '../command.ts';
import { durationOf } from '../duration-of.ts';
import { EXIT } from '../exit-code.ts';
import { parseJson } from '../parse-json.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { plural } from '../words.ts';
import { idLines } from './acts.ts';
import type { Row } from './columns.ts';

interface ResolveOptions extends Common {
  readonly happened?: boolean;
  readonly didNotHappen?: boolean;
  readonly skip?: boolean;
  readonly checkAgain?: boolean;
  readonly result?: string;
  readonly connection?: string;
  readonly since?: number;
}

interface ApproveOptions extends Common {
  readonly calls?: number;
  readonly hours: number;
  readonly allow?: boolean;
}

const HOW = [
  { option: 'happened', how: 'happened', done: 'is recorded as done' },
  { option: 'didNotHappen', how: 'did_not_happen', done: 'is recorded as not done; it will be sent again' },
  { option: 'skip', how: 'skip', done: 'is skipped' },
  { option: 'checkAgain', how: 'check_again', done: 'is looked up again' },
] as const;

/** A person's answers to what the engine asks. */
export function addAnswers(program: Command, terminal: Terminal, ended: Ended): void {
  const resolve = program
    .command('resolve [output]')
    .description('answer what became of a call whose outcome nobody knows, or of all of a connection')
    .option('--happened', 'it happened')
    .addOption(new Option('--result <json>', 'what the service answered, with --happened'))
    .option('--did-not-happen', 'it did not happen: send it again')
    .option('--skip', 'whatever happened, go on without it')
    .option('--check-again', 'ask the service again')
    .option('--connection <name>', 'instead of an output: every such call of this connection')
    .addOption(new Option('--since <time>', 'with --connection: not older than 30m, 12h, 2d').argParser(durationOf));
  define<[string | undefined], ResolveOptions>(terminal, ended, resolve, async (act, output = '') => {
    const { result, connection, since } = act.options;
    if ((output === '') === (connection === undefined)) {
      throw new UsageError('say which', 'name an output, or all of a connection with --connection', [
        { label: 'see what waits', argv: ['pawl', 'needs'] },
      ]);
    }
    const { how, done } = await answerOf(act, output);
    if (connection !== undefined) {
      const from = since === undefined ? undefined : Date.now() - since;
      const body = { how, connection, ...(from !== undefined && { from }) };
      const answer = await (await act.engine()).post<Row>('/api/outputs/resolve', body);
      act.print(
        answer,
        () =>
          `${plural(Number(answer.answered), 'call')} of ${connection}: each ${done}\n${refusedLines(answer.items)}`,
      );
      return Number(answer.refused) === 0 ? undefined : EXIT.conflict;
    }
    const answer = await (await act.engine()).post<Row>(`/api/outputs/${part(output)}/resolve`, {
      how,
      ...(result !== undefined && { result: parseJson('the result', result) }),
    });
    act.print(answer, () => `${output} ${done}\n${idLines(answer)}`);
    return undefined;
  });

  const setAside = program
    .command('set-aside <output>')
    .description('leave an unknown outcome open, and let the workflow go on without it');
  define<[string]>(terminal, ended, setAside, async (act, output) => {
    const answer = await (await act.engine()).post<Row>(`/api/outputs/${part(output)}/set-aside`);
    act.print(answer, () => `${output} is set aside; the question stays open\n${idLines(answer)}`);
    return undefined;
  });

  const approve = program
    .command('approve <id>')
    .description('let a call that waits for approval be sent, or a version do what it asks for')
    .addOption(new Option('--calls <count>', 'and so many more calls of the method').argParser(Number))
    .addOption(new Option('--hours <hours>', 'within so many hours, with --calls').argParser(Number).default(24))
    .option('--allow', 'and allow its target from now on');
  define<[string], ApproveOptions>(terminal, ended, approve, async (act, id) => {
    const engine = await act.engine();
    if (idShapeOf(id) === 'permissionRequest') {
      const answer = await engine.post<Row>(`/api/requests/${part(id)}/allow`);
      act.print(answer, () => `${id} is allowed, and the version is active\n${idLines(answer)}`);
      return undefined;
    }
    const { calls, hours, allow } = act.options;
    const answer = await engine.post<Row>(`/api/outputs/${part(id)}/approve`, {
      ...(calls !== undefined && { cover: { calls, hours } }),
      ...(allow === true && { allow }),
    });
    const more = calls === undefined ? '' : `, and so may be ${plural(calls, 'more call')}`;
    act.print(answer, () => `${id} is approved and will be sent as it is${more}\n${idLines(answer)}`);
    return undefined;
  });

  const reject = program
    .command('reject <id>')
    .description('do not send a call that waits for approval, or refuse a version what it asks for')
    .option('--skip', 'mark its events as skipped')
    .option('--park', 'put its events aside');
  define<[string], Common & { skip?: boolean; park?: boolean }>(terminal, ended, reject, async (act, output) => {
    const { skip = false, park = false } = act.options;
    if (idShapeOf(output) === 'permissionRequest') {
      const answer = await (await act.engine()).post<Row>(`/api/requests/${part(output)}/refuse`);
      act.print(answer, () => `${output} is refused; what is active stays\n${idLines(answer)}`);
      return undefined;
    }
    if (skip === park) {
      throw new UsageError('say what becomes of its events', `${skip ? 'both were' : 'nothing was'} asked for`, [
        { label: 'skip them', argv: ['pawl', 'reject', output, '--skip'] },
        { label: 'put them aside', argv: ['pawl', 'reject', output, '--park'] },
      ]);
    }
    const how = skip ? 'skip' : 'park';
    const answer = await (await act.engine()).post<Row>(`/api/outputs/${part(output)}/reject`, { how });
    act.print(answer, () => `${output} is rejected\n${idLines(answer)}`);
    return undefined;
  });
}

function refusedLines(items: unknown): string {
  const all = Array.isArray(items)
    ? (items as readonly { output: string; ok: boolean; problem?: { detail: string } }[])
    : [];
  return all
    .filter(({ ok }) => !ok)
    .map(({ output, problem }) => `  ${output}: ${problem?.detail ?? 'refused'}\n`)
    .join('');
}

async function answerOf(act: Act<ResolveOptions>, output: string): Promise<(typeof HOW)[number]> {
  const { options } = act;
  const chosen = HOW.filter(({ option }) => options[option] === true);
  const [only] = chosen;
  if (!only || chosen.length > 1) {
    throw new UsageError(
      only ? 'give one answer' : 'give an answer',
      only ? `${chosen.length} contradict each other` : 'Pawl does not guess what became of a call',
      await answersTo(act, output),
    );
  }
  if (options.result !== undefined && only.option !== 'happened') {
    throw new UsageError('--result goes with --happened', 'only a call that happened has a result');
  }
  return only;
}

async function answersTo(act: Act<ResolveOptions>, output: string): Promise<readonly NextStep[]> {
  const { connection } = act.options;
  const which = connection === undefined ? [output] : ['--connection', connection];
  const answer = (label: string, flag: string): NextStep => ({ label, argv: ['pawl', 'resolve', ...which, flag] });
  return [
    answer('it happened', '--happened'),
    answer('it did not happen', '--did-not-happen'),
    answer('go on without it', '--skip'),
    ...(connection === undefined && (await canBeLookedUp(act, output))
      ? [answer('ask the service again', '--check-again')]
      : []),
  ];
}

/** Where nobody can say so, a look-up is not offered. */
async function canBeLookedUp(act: Act, output: string): Promise<boolean> {
  try {
    const { row } = await (await act.engine()).get<{ row?: { canReconcile?: boolean } }>(`/api/show/${part(output)}`);
    return row?.canReconcile === true;
  } catch (error) {
    // What is wrong here is the command: that is what is said, whatever else is.
    if (error instanceof PawlError) return false;
    throw error;
  }
}
