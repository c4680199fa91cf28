import { stat } from 'node:fs/promises';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { type BuildFailure, type BuildOptions, build, type Message } from 'esbuild';
import { sha256 } from '#base';
import { DEFINITION } from '#sdk';
import type { Complaint } from './finding.ts';
import { PACKAGE_PREFIX, SDK_PREFIX } from './source-map.ts';
import { isComplaint, Sources } from './sources.ts';

/** A version is kept in one row, and loaded by every sandbox that runs it. */
export const CODE_BYTES_MAX = 1_024 * 1_024;
/** More than anybody reads; without them the script runs as well. */
const TEXTS_BYTES_MAX = 512 * 1_024;
export const NO_WORKFLOW = 'the default export is not a workflow';

export interface Bundle {
  readonly code: string;
  readonly sourceMap: string;
  readonly contentHash: string;
}

/** Something wrong at a line and column (from 1) of a file, or with a whole file. */
export interface Problem {
  readonly complaint: Complaint;
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

export interface Bundled {
  readonly sources: Sources;
  readonly problems: readonly Problem[];
  readonly bundle?: Bundle;
}

/** One self-contained script out of the author's file, what it imports, and the sdk. */
export async function bundleScript(path: string): Promise<Bundled> {
  const sources = new Sources(path);
  const missing = await problemOfFile(path);
  if (missing) return { sources, problems: [{ complaint: missing, path, line: 1, column: 1 }] };
  try {
    const readable = await build({ ...options(path, sources), sourcemap: 'external', sourcesContent: false });
    // The hash is taken of what is left when names, comments, layout and places of files do not count.
    const bare = await build({ ...options(path, sources), minify: true });
    const [map = '', code = ''] = readable.outputFiles.map((file) => file.text);
    const bundle = {
      code: code.replace(/^\/\/# sourceMappingURL=.*$/m, ''),
      sourceMap: withNamedSources(map, sources),
      contentHash: sha256(bare.outputFiles[0]?.text ?? ''),
    };
    return { sources, bundle, problems: problemsOfSize(bundle, path) };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    return { sources, problems: error.errors.map((message) => problemOf(message, sources)) };
  }
}

function options(path: string, sources: Sources): BuildOptions & { write: false } {
  const folder = dirname(path);
  return {
    stdin: { contents: entry(path), resolveDir: folder, sourcefile: sources.stdin },
    absWorkingDir: folder,
    outfile: resolve(folder, 'script.js'),
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    // The same script is the same code, whatever tsconfig lies near it.
    tsconfigRaw: {},
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [sources.plugin()],
  };
}

function entry(path: string): string {
  return `import * as script from ${JSON.stringify(`./${basename(path)}`)};
const workflow = script.default;
const definition = workflow === null || workflow === undefined ? undefined : workflow[${JSON.stringify(DEFINITION)}];
if (definition === undefined) throw new TypeError(${JSON.stringify(NO_WORKFLOW)});
globalThis.__pawl_workflow = definition;
`;
}

async function problemOfFile(path: string): Promise<Complaint | undefined> {
  const fix = 'give the path of a TypeScript or JavaScript file';
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    return { code: 'no-such-file', message: `there is no file ${path}`, why: 'a workflow is read from a file', fix };
  }
  const message = `${path} is there, but is no script`;
  if (!found.isFile()) {
    return {
      code: 'not-a-script',
      message,
      why: found.isDirectory() ? 'it is a folder' : 'it is no regular file',
      fix,
    };
  }
  if (/\.[cm]?[jt]sx?$/.test(path)) return undefined;
  return { code: 'not-a-script', message, why: 'its name ends neither in .ts nor in .js', fix };
}

function problemsOfSize({ code }: Bundle, path: string): Problem[] {
  const bytes = Buffer.byteLength(code);
  if (bytes <= CODE_BYTES_MAX) return [];
  const complaint: Complaint = {
    code: 'too-large',
    message: `the script is ${Math.ceil(bytes / 1_024)} KiB with everything it imports`,
    why: `every sandbox that runs it loads all of it; at most ${CODE_BYTES_MAX / 1_024} KiB are kept`,
    fix: 'import less: a smaller package, or only the part of it that is used',
  };
  return [{ complaint, path, line: 1, column: 1 }];
}

function withNamedSources(map: string, sources: Sources): string {
  const parsed = JSON.parse(map) as { sources: string[] };
  const folder = dirname(sources.entry);
  const named = parsed.sources.map((source) => {
    const path = resolve(folder, source);
    const owner = sources.ownerOf(path);
    if (owner === 'author') return relative(folder, path).split(sep).join('/');
    if (owner === 'package') return `${PACKAGE_PREFIX}${path.split(`node_modules${sep}`).at(-1)?.split(sep).join('/')}`;
    return `${SDK_PREFIX}${basename(path)}`;
  });
  return JSON.stringify({ ...parsed, sources: named, sourcesContent: textsOf(parsed.sources, sources) });
}

/** The author's own texts go with the script, so that people can read and compare versions; never those of packages. */
function textsOf(paths: readonly string[], sources: Sources): (string | null)[] {
  const folder = dirname(sources.entry);
  const texts = paths.map((path) => sources.texts.get(resolve(folder, path)) ?? null);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
  return bytes > TEXTS_BYTES_MAX ? texts.map(() => null) : texts;
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function problemOf(message: Message, sources: Sources): Problem {
  const complaint = isComplaint(message.detail) ? message.detail : syntaxComplaint(message.text);
  const folder = dirname(sources.entry);
  const { file = sources.entry, line = 1, column = 0 } = message.location ?? {};
  return { complaint, path: resolve(folder, file), line, column: column + 1 };
}

function syntaxComplaint(text: string): Complaint {
  if (/top-level await/i.test(text)) {
    return {
      code: 'syntax',
      message: 'await stands outside a function',
      why: 'the top level of a script only declares; it runs at once, without the outside world',
      fix: 'move the await into a handler',
    };
  }
  return { code: 'syntax', message: text, why: 'the file cannot be read as a script', fix: 'mend the syntax here' };
}
