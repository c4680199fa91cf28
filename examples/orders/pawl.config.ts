// biome-ignore-all lint/style/noDefaultExport: a config is the default export of its file
import { defineConfig } from 'pawl';

export default defineConfig({
  connections: {
    inbox: { type: 'files', root: './inbox' },
    ledger: { type: 'files', root: './ledger' },
    desk: {
      type: 'http',
      baseUrl: process.env.DESK_URL ?? 'http://127.0.0.1:9100',
      timeoutMs: 5_000,
      // What the desk did shows in its answers at once.
      visibilityMs: 0,
      // When a call's answer is lost, the desk is asked whether it has the notification.
      reconcile: {
        get: '/notifications?order={json.order}',
        applied: { has: { 'body.items[*].order': '{json.order}' } },
        failed: { hasNot: { 'body.items[*].order': '{json.order}' } },
        result: 'body.items[*]',
      },
    },
    // The insurer has no such answer: what became of a call without one, only a person can say who looks there.
    insurer: {
      type: 'http',
      baseUrl: process.env.DESK_URL ?? 'http://127.0.0.1:9100',
      timeoutMs: 5_000,
      visibilityMs: 10_000,
    },
  },
});
