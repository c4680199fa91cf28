// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineWorkflow, topic } from 'pawl';

interface Push {
  ref: string;
  repository: { full_name: string };
  head_commit: { id: string; message: string };
}
export default defineWorkflow({
  name: 'ci',
  uses: { db: 'sql' },
  topics: { push: topic<{ repo: string; sha: string; message: string }>() },
})
  .webhook('github', {
    publishes: ['push'],
    verify: 'github',
    body: topic<Push>(),
    async handler(ctx, delivery) {
      const p = delivery.body;
      if (p.ref !== 'refs/heads/main') return;
      const inputId = ctx.registerInput({
        source: 'github',
        type: 'push',
        id: delivery.id,
        title: p.head_commit.message,
      });
      ctx.publish('push', {
        messageId: p.head_commit.id,
        inputId,
        payload: { repo: p.repository.full_name, sha: p.head_commit.id, message: p.head_commit.message },
      });
    },
  })
  .each('store', 'push', {
    title: (p) => `Record ${p.sha.slice(0, 7)}`,
    mutate: async (ctx, p) => ctx.db.upsert({ table: 'pushes', key: 'sha', row: { ...p } }),
  });
