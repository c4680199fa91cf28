// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: 'inbox',
  uses: { inbox: 'email', book: 'sheet', crm: 'http' },
  topics: { mail: topic<{ id: string; from: string; subject: string }>(), filed: topic<{ id: string; row: number }>() },
})
  .producer('read', {
    publishes: ['mail'],
    schedule: { interval: '1m' },
    state: { uid: 0 },
    async handler(ctx, state) {
      const mails = await ctx.inbox.list({ mailbox: 'INBOX', sinceUid: state.uid, limit: 50 });
      for (const m of mails) {
        const inputId = ctx.registerInput({ source: 'imap', type: 'mail', id: m.messageId, title: m.subject });
        ctx.publish('mail', {
          messageId: m.messageId,
          inputId,
          payload: { id: m.messageId, from: m.from, subject: m.subject },
        });
      }
      return { uid: mails.at(-1)?.uid ?? state.uid };
    },
  })
  .each('file', 'mail', {
    publishes: ['filed'],
    // a read that the mutation depends on: data becomes what this returns
    async prepare(ctx, e) {
      const { body } = await ctx.crm.get<{ name: string } | null>({
        path: '/contacts',
        query: { mail: e.payload.from },
      });
      return { ...e.payload, name: body?.name ?? 'unknown' };
    },
    title: (d) => `Add row for ${d.name}`,
    mutate: async (ctx, d) =>
      ctx.book.appendRow({
        file: 'mails.csv',
        key: 'id',
        row: { id: d.id, from: d.from, name: d.name, subject: d.subject },
      }),
    next(ctx, d, r) {
      if (r.status === 'applied') ctx.publish('filed', { payload: { id: d.id, row: r.result.row } });
    },
  });
