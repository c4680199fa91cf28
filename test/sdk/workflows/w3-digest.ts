// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: 'digest',
  uses: { feed: 'rss', mail: 'email' },
  topics: { item: topic<{ title: string; link: string }>() },
})
  .producer('read', {
    publishes: ['item'],
    schedule: { interval: '15m' },
    async handler(ctx) {
      for (const i of await ctx.feed.items({ limit: 50 })) {
        const inputId = ctx.registerInput({ source: 'rss', type: 'item', id: i.id, title: i.title });
        ctx.publish('item', { messageId: i.id, inputId, payload: { title: i.title, link: i.link } });
      }
    },
  })
  .consumer('send', {
    subscribe: ['item'],
    state: { lastDay: '' },
    async prepare(ctx, state) {
      const now = new Date();
      const day = now.toISOString().slice(0, 10);
      const eight = new Date(`${day}T08:00:00Z`);
      if (state.lastDay === day) return ctx.idle({ wakeAt: new Date(eight.getTime() + 86_400_000) });
      if (now < eight) return ctx.idle({ wakeAt: eight });
      const items = await ctx.peek('item', { limit: 200 });
      if (items.length === 0) return;
      return ctx.take(items, {
        data: { day, text: items.map((i) => `${i.payload.title}\n${i.payload.link}`).join('\n\n') },
        title: `Digest of ${items.length} for ${day}`,
      });
    },
    async mutate(ctx, { data }) {
      return ctx.mail.send({ to: 'me@example.com', subject: `Digest ${data.day}`, text: data.text });
    },
    async next(_ctx, { data }) {
      return { lastDay: data.day };
    },
  });
