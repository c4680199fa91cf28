import type { Command } from 'commander';
import { type Common, define, type Ended } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { plural } from '../words.ts';

interface RetentionOptions extends Common {
  readonly dryRun?: boolean;
  readonly now?: boolean;
}

type Rows = Readonly<Record<string, number>>;

interface State {
  readonly keepDays: number | null;
  readonly isRunning: boolean;
  readonly last: { readonly endedAt: number; readonly removed: Rows } | null;
}

interface Preview {
  readonly removable: Rows;
  readonly isWhole: boolean;
}

/** How long history is kept; what may be removed is never more than nothing needs. */
export function addRetention(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('retention')
    .description('say how long history is kept, and what was last removed')
    .option('--dry-run', 'count what would be removed now, and remove nothing')
    .option('--now', 'begin to remove it now, instead of within the hour');
  define<[], RetentionOptions>(terminal, ended, command, async (act) => {
    const engine = await act.engine();
    if (act.options.dryRun === true) {
      const answer = await engine.post<Preview>('/api/retention/preview', {});
      const { removable, isWhole } = answer;
      act.print(answer, () => `would be removed: ${told(removable)}${isWhole ? '' : ', and more'}\n`);
      return undefined;
    }
    if (act.options.now === true) {
      const answer = await engine.post<object>('/api/retention/run', {});
      act.print(answer, () => 'old history is being removed, a little at a time\n');
      return undefined;
    }
    const answer = await engine.get<State>('/api/retention');
    act.print(answer, () => words(answer));
    return undefined;
  });
}

function words({ keepDays, isRunning, last }: State): string {
  if (keepDays === null) return 'everything is kept: the config says nothing of retention\n';
  const when = last === null ? 'nothing was removed since the start' : `${new Date(last.endedAt).toISOString()}: `;
  const what = last === null ? '' : `${told(last.removed)} removed`;
  return `history is kept for ${plural(keepDays, 'day')}\n${when}${what}${isRunning ? '; it is being removed now' : ''}\n`;
}

const WORDS: Readonly<Record<string, string>> = { mutations: 'outputs' };

function told(rows: Rows): string {
  const found = Object.entries(rows).filter(([, count]) => count > 0);
  if (found.length === 0) return 'nothing';
  return found.map(([name, count]) => `${count.toLocaleString('en')} ${WORDS[name] ?? name}`).join(', ');
}
