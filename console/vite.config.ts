// biome-ignore-all lint/style/noDefaultExport: Vite takes its config as the default export of this file
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';

/** While working on the console, the engine whose data folder this is answers; `pawl start` writes its address there. */
const DATA = process.env.PAWL_DATA ?? join(import.meta.dirname, '..', 'pawl-data');

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  build: {
    // Nothing older than what has light-dark() and :has().
    target: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    // The engine allows no inline code, and fonts or images as data would only hide what is large.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
    // Packages mark what runs in a browser for servers that draw pages; here everything does.
    rolldownOptions: { onLog: (level, log, tell) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && tell(level, log) },
  },
  server: { port: 5173, strictPort: true, proxy: { '/api': { target: engineUrl(), changeOrigin: true } } },
});

function engineUrl(): string {
  const file = join(DATA, 'url');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'http://127.0.0.1:7295';
}
