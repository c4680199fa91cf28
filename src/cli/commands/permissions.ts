import { type Command, Option } from 'commander';
import { part } from '../client.ts';
import { type Common, define, type Ended } from '../command.ts';
import { durationOf } from '../duration-of.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { plural } from '../words.ts';
import { type Row, text } from './columns.ts';
import { workflowNamed } from './workflow-named.ts';

interface Permissions {
  readonly name: string;
  readonly grants: readonly Row[];
  readonly missing: readonly Row[];
  readonly request: { readonly id: string; readonly version: string; readonly asks: readonly Row[] } | null;
}

interface AllowOptions extends Common {
  readonly target?: readonly string[];
  readonly cap?: string;
}

/** What workflows may ask of connections. */
export function addPermissions(program: Command, terminal: Terminal, ended: Ended): void {
  const permissions = program
    .command('permissions [workflow]')
    .description('say what a workflow may ask of its connections, and what waits to be allowed');
  define<[string | undefined]>(terminal, ended, permissions, async (act, named) => {
    const engine = await act.engine();
    const workflow = await workflowNamed(engine, named, 'permissions');
    const answer = await engine.get<Permissions>(`/api/workflows/${part(workflow)}/permissions`);
    act.print(answer, () => words(answer));
    return undefined;
  });

  const allow = program
    .command('allow <workflow> <method>')
    .description('allow a workflow a method of a connection: allow orders shop.post')
    .option('--target <pattern...>', 'only on these; * stands for any text')
    .option('--cap <count>', 'ask above this many calls an hour; "none" takes a cap away');
  define<[string, string], AllowOptions>(terminal, ended, allow, async (act, workflow, method) => {
    const { target: targets, cap } = act.options;
    const grant = {
      ...methodOf(method),
      ...(targets !== undefined && { targets }),
      ...(cap !== undefined && { capPerHour: capOf(cap) }),
    };
    const path = `/api/workflows/${part(workflow)}/permissions`;
    const answer = await (await act.engine()).post<Permissions>(path, { grants: [grant] });
    act.print(answer, () => words(answer));
    return undefined;
  });

  const disallow = program
    .command('disallow <workflow> <method>')
    .description('take back what a workflow was allowed; its next such call asks');
  define<[string, string]>(terminal, ended, disallow, async (act, workflow, method) => {
    const path = `/api/workflows/${part(workflow)}/permissions/take`;
    const answer = await (await act.engine()).post<Permissions>(path, methodOf(method));
    act.print(answer, () => words(answer));
    return undefined;
  });

  const skip = program
    .command('skip-pending <workflow>')
    .description('mark what waits and is old as not to be done')
    .addOption(new Option('--older-than <time>', 'such as 30m, 12h, 2d').argParser(durationOf).makeOptionMandatory())
    .option('--topic <topic>', 'only of this topic');
  define<[string], Common & { olderThan: number; topic?: string }>(terminal, ended, skip, async (act, workflow) => {
    const { olderThan, topic } = act.options;
    const body = { olderThan: Date.now() - olderThan, ...(topic !== undefined && { topic }) };
    const answer = await (await act.engine()).post<Row>(`/api/workflows/${part(workflow)}/skip-pending`, body);
    act.print(answer, () => `${plural(Number(answer.skipped), 'event')} skipped\n`);
    return undefined;
  });
}

function words({ name, grants, missing, request }: Permissions): string {
  const lines = [
    ...grants.map(
      (grant) => `${text(grant.sentence)}${grant.used === true ? '' : '   (its version does not use this)'}`,
    ),
    ...missing.map((ask) => `${text(ask.sentence)}, and may not`),
  ];
  const waits = request ? [`version ${request.version} waits: pawl approve ${request.id}`] : [];
  const wanted = request?.asks.map((ask) => `  ${text(ask.sentence)}`) ?? [];
  const all = [...(lines.length === 0 ? ['may do nothing outside'] : lines), ...waits, ...wanted];
  return `${name}\n${all.map((line) => `  ${line}\n`).join('')}`;
}

function methodOf(given: string): { connection: string; method: string } {
  const [, connection, method] = /^([^.]+)\.([^.]+)$/.exec(given) ?? [];
  if (connection !== undefined && method !== undefined) return { connection, method };
  throw new UsageError(`"${given}" is no method of a connection`, 'it is written as CONNECTION.METHOD: shop.post');
}

function capOf(given: string): number | null {
  if (given === 'none') return null;
  const cap = Number(given);
  if (Number.isSafeInteger(cap) && cap >= 0) return cap;
  throw new UsageError(`"${given}" is no cap`, 'it is how many calls an hour, or "none"');
}
