import { createContext, Script } from 'node:vm';
import type { Description } from '#script';

/** Runs only what tests wrote: `node:vm` is no sandbox. Says what the sandbox would say of a definition. */
const DESCRIBE = `JSON.stringify((({ name, uses, topics, producers, consumers }) => {
  const each = (record, map) => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
  const is = (value) => typeof value === 'function';
  return {
    name,
    uses,
    topics: each(topics, ({ description, schema }) => ({ description, hasSchema: schema !== undefined })),
    producers: each(producers, ({ handler, ...rest }) => ({ ...rest, hasHandler: is(handler) })),
    consumers: each(consumers, ({ prepare, mutate, next, ...rest }) => ({
      ...rest, hasPrepare: is(prepare), hasMutate: is(mutate), hasNext: is(next),
    })),
  };
})(globalThis.__pawl_workflow))`;

export async function describeInVm(code: string): Promise<Description> {
  const context = createContext({}, { codeGeneration: { strings: false, wasm: false } });
  try {
    new Script(code, { filename: 'script.js' }).runInContext(context, { timeout: 500 });
    return { kind: 'returned', result: String(new Script(DESCRIBE).runInContext(context)) };
  } catch (error) {
    const { name, message, stack = '' } = error as Error;
    const frames = [...stack.matchAll(/script\.js:(\d+):(\d+)/g)];
    return {
      kind: 'failed',
      message: `${name}: ${message}`,
      stack: frames.map(([, line, column]) => ({ line: Number(line), column: Number(column) })),
    };
  }
}
