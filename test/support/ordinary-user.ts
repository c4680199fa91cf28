import type { TestContext } from 'node:test';
import { openPostgresStore } from '#store';
import type { PostgresServer } from './postgres-server.ts';
import { sharedServer } from './postgres-world.ts';

let users = 0;

/** A user of the server that may make no roles, and is held to a limit of connections; its own is one database, with all tables. */
export class OrdinaryUser {
  readonly server: PostgresServer;
  /** The name of its database as well. */
  readonly name: string;
  readonly url: string;

  private constructor(server: PostgresServer) {
    this.server = server;
    this.name = `plain_${process.pid}_${++users}`;
    this.url = server.url(this.name).replace(/user=\w+/, `user=${this.name}`);
  }

  static async make(t: TestContext): Promise<OrdinaryUser> {
    const server = await sharedServer();
    const user = new OrdinaryUser(server);
    const { name, url } = user;
    await server.query('postgres', `CREATE ROLE ${name} LOGIN`);
    await server.createDatabase(name);
    await server.query('postgres', `ALTER DATABASE ${name} OWNER TO ${name}`);
    t.after(async () => {
      await server.dropDatabase(name);
      await server.query('postgres', `DROP ROLE ${name}`);
    });
    await (await openPostgresStore({ url })).close();
    return user;
  }

  async mayConnect(times: number): Promise<void> {
    await this.server.query('postgres', `ALTER ROLE ${this.name} CONNECTION LIMIT ${times}`);
  }

  async connections(): Promise<number> {
    const [row] = await this.server.query(
      'postgres',
      `SELECT count(*)::int FROM pg_stat_activity WHERE usename = '${this.name}'`,
    );
    return Number(row?.[0]);
  }
}
