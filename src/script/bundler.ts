import { stop } from 'esbuild';

let users = 0;

/** The bundler works in a process of its own, which would wait for more to do as long as we live: whoever is done with it last ends it. */
export async function withBundler<T>(act: () => Promise<T>): Promise<T> {
  users++;
  try {
    return await act();
  } finally {
    if (--users === 0) await stop();
  }
}
