import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { Query } from '../client.ts';
import { type Act, type Common, define, type Ended } from '../command.ts';
import { EngineUnreachableError } from '../engine-errors.ts';
import { EXIT } from '../exit-code.ts';
import { DATA_FOLDER } from '../find-engine.ts';
import { limitOf } from '../limit-of.ts';
import { SCHEMA } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { plural } from '../words.ts';
import type { Row } from './columns.ts';
import { printList } from './lists.ts';

interface AuditOptions extends Common {
  readonly limit?: number;
  readonly after?: string;
  readonly actor?: string;
  readonly act?: string;
  readonly subject?: string;
  readonly search?: string;
}

interface Verified {
  readonly ok: boolean;
  readonly entries: number;
  readonly head: { readonly seq: number; readonly hash: string } | null;
  readonly broken: { readonly seq: number; readonly why: string } | null;
}

/** What people did, and whether the record of it is whole. */
export function addAudit(program: Command, terminal: Terminal, ended: Ended): void {
  const audit = program
    .command('audit')
    .description('list what people did, newest first')
    .addOption(new Option('--limit <count>', 'how many at most, from 1 to 1000').argParser(limitOf).default(50))
    .option('--after <cursor>', 'go on where a page ended')
    .option('--actor <name>', 'only what this person did')
    .option('--act <act>', 'only acts of this kind')
    .option('--subject <id>', 'only what was done to this')
    .option('--search <text>', 'only what has this in it');
  define<[], AuditOptions>(terminal, ended, audit, async (act) => {
    const { limit, after, actor, act: kind, subject, search } = act.options;
    const query: Query = { limit, after, actor, act: kind, subject, q: search };
    const answer = await (await act.engine()).get<{ items: readonly Row[]; next: string | null }>('/api/audit', query);
    printList(act, 'audit', answer, ['audit']);
    return undefined;
  });

  const verify = audit
    .command('verify')
    .description('check that the log is as it was written, of a running engine or of a data folder nobody runs')
    .option('--noted <seq:hash>', 'an end of the log that was printed earlier: is it still there?');
  define<[], Common & { noted?: string }>(terminal, ended, verify, async (act) => {
    const answer = await verified(act, notedIn(act.options.noted));
    act.print(answer, () => words(answer));
    return answer.ok ? EXIT.ok : EXIT.failed;
  });
}

function notedIn(text: string | undefined): { seq: number; hash: string } | undefined {
  if (text === undefined) return undefined;
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw new UsageError(`"${text}" is no end of a log`, 'it is a number, a colon and 64 letters, as verify prints it');
}

async function verified(act: Act, noted: { seq: number; hash: string } | undefined): Promise<Verified> {
  const folder = act.options.data ?? (act.options.url === undefined ? act.terminal.env.PAWL_DATA : undefined);
  try {
    return await (await act.engine()).get<Verified>('/api/audit/verify', { ...noted });
  } catch (error) {
    const dataDir = folder ?? DATA_FOLDER;
    if (!(error instanceof EngineUnreachableError) || !existsSync(join(dataDir, 'pawl.db'))) throw error;
    const [{ verifyAudit }, { lookBackLater, openHistory }] = await Promise.all([import('#story'), import('#store')]);
    const history = lookBackLater(openHistory(dataDir));
    try {
      return { ...(await verifyAudit({ history }, noted)), ...{ schema: SCHEMA } };
    } finally {
      await history.close();
    }
  }
}

function words({ ok, entries, head, broken }: Verified): string {
  if (!ok) return `entry ${broken?.seq}: ${broken?.why}; the ${plural(entries, 'entry', 'entries')} before it hold\n`;
  const end = head ? `  note its end: ${head.seq}:${head.hash}\n` : '';
  return `${plural(entries, 'entry', 'entries')} hold\n${end}`;
}
