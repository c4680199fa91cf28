import { access, constants, mkdir } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Connector, MutationMethod, ReadLimits } from '../connector.ts';
import { notDone, type ReadOutcome } from '../outcome.ts';
import { appendFile, appendResult, reconcileAppend } from './append.ts';
import {
  appendArguments,
  type ChangeArguments,
  changeArguments,
  type ListArguments,
  listArguments,
  type ReadArguments,
  readArguments,
} from './arguments.ts';
import { type FilesConfig, filesConfigFields, filesConfigSchema } from './config.ts';
import { type FilesConnection, openFilesConnection } from './connection.ts';
import { diskNotDone } from './disk-error.ts';
import { realRoot } from './place.ts';
import { listFolder, readText } from './read.ts';
import { reconcileWrite, writeFile, writeResult } from './write.ts';

const TIMEOUT_MS = 30_000;
const CONCURRENCY = 16;
const PREVIEW_LENGTH_MAX = 16 * 1024;

export const files: Connector<FilesConfig, FilesConnection> = {
  name: 'files',
  configSchema: filesConfigSchema,
  configFields: filesConfigFields,
  // A disk shows at once what was written to it.
  defaults: { timeoutMs: TIMEOUT_MS, visibilityMs: 0, concurrency: CONCURRENCY },
  reads: {
    list: {
      schema: listArguments,
      target: ({ dir }: ListArguments) => posix.normalize(dir),
      run: (connection, args: ListArguments, limits) =>
        timedRead(`the list of "${args.dir}"`, connection, limits, () => listFolder(connection, args)),
    },
    read: {
      schema: readArguments,
      target: ({ path }: ReadArguments) => posix.normalize(path),
      run: (connection, args: ReadArguments, limits) =>
        timedRead(`the read of "${args.path}"`, connection, limits, () => readText(connection, args)),
    },
  },
  mutations: {
    append: change({
      schema: appendArguments,
      resultSchema: appendResult,
      preview: ({ root }, args) => preview(`append to ${posix.normalize(args.path)} in ${root}`, args.text),
      run: appendFile,
      sampleResult: ({ text }) => ({ offset: 0, bytes: Buffer.byteLength(text) }),
      reconcile: reconcileAppend,
      async assumedResult(connection, call) {
        const found = await reconcileAppend(connection, call);
        return found.kind === 'applied' ? found.result : undefined;
      },
    }),
    write: change({
      schema: changeArguments,
      resultSchema: writeResult,
      preview: ({ root }, args) => preview(`write ${posix.normalize(args.path)} in ${root}`, args.text),
      run: writeFile,
      sampleResult: ({ text }) => ({ bytes: Buffer.byteLength(text) }),
      reconcile: reconcileWrite,
      assumedResult: (_connection, { args }) => Promise.resolve({ bytes: Buffer.byteLength(args.text) }),
    }),
  },
  open: (_name, config, host) => openFilesConnection(config, host),
  test: (connection, limits) =>
    timedRead('the test', connection, limits, async () => {
      await access(await realRoot(connection.root), constants.R_OK | constants.X_OK);
      return { kind: 'answered', result: { root: connection.root } };
    }),
  close: () => Promise.resolve(),
};

type Change = MutationMethod<FilesConnection, ChangeArguments>;

function change(
  method: Pick<Change, 'schema' | 'resultSchema' | 'preview' | 'run' | 'reconcile' | 'sampleResult' | 'assumedResult'>,
): Change {
  return {
    ...method,
    target: ({ path }) => posix.normalize(path),
    canReconcile: () => true,
    async ready({ root, journal }) {
      await mkdir(root, { recursive: true });
      await journal.create();
    },
  };
}

/** A disk that does not answer must not hold a run for ever. */
async function timedRead(
  what: string,
  { host }: FilesConnection,
  { signal, deadline }: ReadLimits,
  read: () => Promise<ReadOutcome>,
): Promise<ReadOutcome> {
  const waitMs = Math.min(2 ** 31 - 1, Math.max(0, deadline - host.clock.now()));
  const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  const stopped = Promise.withResolvers<ReadOutcome>();
  const stop = (): void => stopped.resolve(notDone('transient', `${what} was stopped, or its time ran out`));
  if (over.aborted) stop();
  over.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([stopped.promise, read().catch((error: unknown) => diskNotDone(error, what))]);
  } finally {
    over.removeEventListener('abort', stop);
  }
}

function preview(head: string, text: string): string {
  if (text.length <= PREVIEW_LENGTH_MAX) return `${head}\n\n${text}`;
  return `${head}\n\n${text.slice(0, PREVIEW_LENGTH_MAX)}\n… and ${text.length - PREVIEW_LENGTH_MAX} more characters`;
}
