// Connectors that are not built in, added the way a user adds one.
import type { Mutation, Secret } from 'pawl';

type Row = Record<string, unknown>;

declare module 'pawl' {
  interface Connectors {
    email: {
      reads: {
        list(request: {
          mailbox: string;
          sinceUid?: number;
          limit?: number;
        }): Promise<{ uid: number; messageId: string; from: string; subject: string; text: string; date: string }[]>;
      };
      mutations: {
        send(request: {
          to: string | string[];
          subject: string;
          text: string;
        }): Promise<Mutation<{ messageId: string }>>;
      };
    };
    sql: {
      reads: { select<R>(request: { sql: string; params?: unknown[] }): Promise<R[]> };
      mutations: {
        insert(request: { table: string; key: string; row: Row }): Promise<Mutation<{ rows: number }>>;
        upsert(request: { table: string; key: string; row: Row }): Promise<Mutation<{ rows: number }>>;
      };
    };
    sheet: {
      reads: { rows(request: { file: string }): Promise<Record<string, string>[]> };
      mutations: {
        appendRow(request: {
          file: string;
          key: string;
          row: Record<string, string | number>;
        }): Promise<Mutation<{ row: number }>>;
      };
    };
    slack: {
      reads: { history(request: { channel: string; limit?: number }): Promise<{ ts: string; text: string }[]> };
      mutations: {
        post(request: { channel: string; text: string }): Promise<Mutation<{ ts: string; channel: string }>>;
      };
    };
    rss: {
      reads: {
        items(request?: { limit?: number }): Promise<{ id: string; title: string; link: string; published: string }[]>;
      };
      mutations: Record<never, never>;
    };
  }
  interface ConnectionOptions {
    email: { smtp: string; imap?: string; user: string; password: Secret; sent?: string };
    sql: { url: Secret | string };
    sheet: { dir: string };
    slack: { token: Secret; baseUrl?: string };
    rss: { url: string };
  }
}

/** What the validator is told about every connector the eight workflows use. */
export const CATALOGUE = {
  http: { reads: ['get', 'head'], mutations: ['post', 'put', 'patch', 'delete'] },
  files: { reads: ['list', 'read'], mutations: ['append', 'write'] },
  email: { reads: ['list'], mutations: ['send'] },
  sql: { reads: ['select'], mutations: ['insert', 'upsert'] },
  sheet: { reads: ['rows'], mutations: ['appendRow'] },
  slack: { reads: ['history'], mutations: ['post'] },
  rss: { reads: ['items'], mutations: [] },
};
