import { type Command, Option } from 'commander';
import { part } from '../client.ts';
import { type Common, define, type Ended } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import type { Terminal } from '../terminal.ts';
import { type Row, text } from './columns.ts';
import { printList } from './lists.ts';

interface Listed {
  readonly items: readonly Row[];
  readonly next: string | null;
}

interface NoticesOptions extends Common {
  readonly status?: string;
  readonly channel?: string;
  readonly after?: string;
}

/** Who is told when something needs a person, and whether that worked. */
export function addNotices(program: Command, terminal: Terminal, ended: Ended): void {
  const channels = program.command('channels').description('list how people are told that something needs them');
  define(terminal, ended, channels, async (act) => {
    printList(act, 'channels', await (await act.engine()).all<Row>('/api/channels'), ['channels']);
    return undefined;
  });

  const test = channels.command('test <channel>').description('tell somebody that they can be told');
  define<[string]>(terminal, ended, test, async (act, name) => {
    const answer = await (await act.engine()).post<Row>(`/api/channels/${part(name)}/test`);
    const isTold = answer.ok === true;
    act.print(answer, () =>
      isTold ? `${name} works: look whether it arrived\n` : `${name} fails: ${text(answer.error)}\n`,
    );
    return isTold ? undefined : EXIT.failed;
  });

  const notices = program
    .command('notices')
    .description('list whom the engine told of what, newest first')
    .addOption(new Option('--status <status>', 'due, sent or given_up').choices(['due', 'sent', 'given_up']))
    .option('--channel <name>', 'only of this channel')
    .option('--after <cursor>', 'the next page');
  define<[], NoticesOptions>(terminal, ended, notices, async (act) => {
    const { status, channel, after } = act.options;
    const answer = await (await act.engine()).get<Listed>('/api/notices', { status, channel, after });
    printList(act, 'notices', answer, ['notices']);
    return undefined;
  });
}
