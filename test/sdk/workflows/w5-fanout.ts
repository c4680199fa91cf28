// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: 'newsletter',
  uses: { db: 'sql', mail: 'email' },
  topics: { issue: topic<{ id: string; html: string }>(), letter: topic<{ to: string; html: string }>() },
})
  // fan-out: reads in prepare, no mutation, publishes in next
  .consumer('expand', {
    subscribe: ['issue'],
    publishes: ['letter'],
    async prepare(ctx) {
      const [e] = await ctx.peek('issue', { limit: 1 });
      if (!e) return;
      const to = await ctx.db.select<{ mail: string }>({ sql: 'select mail from subscribers' });
      return ctx.take(e, { data: { issue: e.payload, to: to.map((r) => r.mail) } });
    },
    async next(ctx, { data }) {
      for (const to of data.to)
        ctx.publish('letter', { messageId: `${data.issue.id}:${to}`, payload: { to, html: data.issue.html } });
    },
  })
  .each('send', 'letter', {
    title: (l) => `Send issue to ${l.to}`,
    mutate: async (ctx, l) => ctx.mail.send({ to: l.to, subject: 'News', text: l.html }),
  });
