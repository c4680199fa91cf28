import { type Command, Option } from 'commander';
import { part } from '../client.ts';
import { type Common, define, type Ended } from '../command.ts';
import { durationOf } from '../duration-of.ts';
import type { Terminal } from '../terminal.ts';
import { moment } from '../words.ts';
import { type Row, text } from './columns.ts';
import { printList } from './lists.ts';

const SCOPES = ['read', 'operate', 'edit', 'admin'];

interface CreateOptions extends Common {
  readonly scope: readonly string[];
  readonly expires?: number;
}

/** Who gets in: links to the console, and tokens. */
export function addAccess(program: Command, terminal: Terminal, ended: Ended): void {
  const login = program
    .command('login')
    .description('print a link that opens the console, once and within ten minutes');
  define(terminal, ended, login, async (act) => {
    const answer = await (await act.engine()).post<Row>('/api/login-links');
    act.print(answer, () => `${text(answer.url)}\n`);
    return undefined;
  });

  const token = program.command('token').description('tokens for programs and people: create, list, revoke');
  const create = token
    .command('create <name>')
    .description('make a token; its secret is printed now and never again')
    .addOption(
      new Option('--scope <scope...>', 'read; operate: answer and act; edit: validate and deploy; admin: everything')
        .choices(SCOPES)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--expires <time>', 'such as 12h, 30d; 90 days where nothing is said').argParser(durationOf));
  define<[string], CreateOptions>(terminal, ended, create, async (act, name) => {
    const { scope: scopes, expires } = act.options;
    const answer = await (await act.engine()).post<Row>('/api/tokens', {
      name,
      scopes,
      ...(expires !== undefined && { expiresInMs: expires }),
    });
    act.print(
      answer,
      () =>
        `${text(answer.secret)}\n  token: ${text(answer.token)}\n  expires: ${moment(Number(answer.expiresAt), Date.now())}\n  use: PAWL_TOKEN, or authorization: Bearer\n`,
    );
    return undefined;
  });

  const list = token.command('list').description('list the tokens and the sessions they opened, newest first');
  define(terminal, ended, list, async (act) => {
    const answer = await (await act.engine()).all<Row>('/api/tokens');
    printList(act, 'tokens', answer, ['token', 'list']);
    return undefined;
  });

  const revoke = token.command('revoke <id>').description('let nobody in with this token any more');
  define<[string]>(terminal, ended, revoke, async (act, id) => {
    const answer = await (await act.engine()).post<Row>(`/api/tokens/${part(id)}/revoke`);
    act.print(answer, () => `${id} is revoked, with the sessions it opened\n`);
    return undefined;
  });
}
