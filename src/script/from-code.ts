import { sha256 } from '#base';
import { type Bundle, CODE_BYTES_MAX } from './bundle.ts';
import { anyCalls, type Calls } from './calls.ts';
import type { Catalogue } from './catalogue.ts';
import { checkDeclared } from './check-declared.ts';
import { type CompiledScript, compiledScript, type Describe, declare } from './compiled-script.ts';
import type { Report } from './declared.ts';
import {
  type Complaint,
  errorAt,
  type Finding,
  inOrder,
  type Place,
  ScriptInvalidError,
  warningAt,
} from './finding.ts';
import { PACKAGE_PREFIX, parseMap, SDK_PREFIX } from './source-map.ts';
import type { Places, WorkflowSource } from './workflow-source.ts';

/** A script that somebody else bundled: its author's files are not here. */
export interface GivenCode {
  readonly code: string;
  readonly sourceMap: string;
  /** By what the version is known; of the code itself where nothing is given. */
  readonly contentHash?: string | undefined;
  /** What it asks of its connections, as was read in its author's files; anything where nothing is given. */
  readonly calls?: Calls | undefined;
}

export interface FromCodeOptions extends GivenCode {
  /** What to call it in messages. */
  readonly name: string;
  readonly describe: Describe;
  readonly connectors: Catalogue;
}

/**
 * The same script as `compileScript` makes, from its code alone: what it declares is asked of the code again, in the sandbox of
 * whoever will run it. What can only be read in the author's files was checked where they are; the host enforces it at each call.
 */
export async function scriptFromCode(options: FromCodeOptions): Promise<CompiledScript> {
  const { name, code, sourceMap, describe, connectors } = options;
  const findings: Finding[] = [];
  const report: Report = (place, complaint) => findings.push(errorAt(place, complaint));
  const warn: Report = (place, complaint) => findings.push(warningAt(place, complaint));
  const file = authorFile(sourceMap);
  const source = placesIn({ file: file ?? name, line: 1, column: 1 });
  const problem = file === undefined ? NO_MAP : Buffer.byteLength(code) > CODE_BYTES_MAX ? TOO_LARGE : undefined;
  if (file === undefined || problem) {
    throw new ScriptInvalidError(name, [errorAt(source.place(), problem ?? NO_MAP)]);
  }
  const bundle: Bundle = { code, sourceMap, contentHash: options.contentHash ?? sha256(code) };
  const declared = await declare(bundle, describe, source, (shown) => shown, report, warn);
  if (declared) checkDeclared(declared, source, connectors, report, warn);
  if (!declared || findings.some((finding) => finding.severity === 'error')) {
    throw new ScriptInvalidError(file, inOrder(findings));
  }
  const calls = options.calls ? knownCalls(options.calls, declared.uses) : anyCalls(declared.uses, connectors);
  return compiledScript(declared, bundle, calls, inOrder(findings));
}

/** Only of connections that the code itself declares. */
function knownCalls(calls: Calls, uses: Readonly<Record<string, string>>): Calls {
  return Object.fromEntries(Object.entries(calls).filter(([connection]) => Object.hasOwn(uses, connection)));
}

const NO_MAP: Complaint = {
  code: 'source-map',
  message: 'the source map cannot be read',
  why: 'without it no error could name a line of the author',
  fix: 'send the source map that belongs to the code',
};

const TOO_LARGE: Complaint = {
  code: 'too-large',
  message: 'the script is too large',
  why: `every sandbox that runs it loads all of it; at most ${CODE_BYTES_MAX / 1_024} KiB are kept`,
  fix: 'import less: a smaller package, or only the part of it that is used',
};

/** The first file the author wrote, as the source map names it; undefined when there is no such map. */
function authorFile(sourceMap: string): string | undefined {
  try {
    const { sources } = parseMap(sourceMap).payload;
    const own = sources.find((each) => !each.startsWith(SDK_PREFIX) && !each.startsWith(PACKAGE_PREFIX));
    return own ?? sources[0];
  } catch {
    return undefined;
  }
}

/** Without the files every place is the same: the beginning of the author's. */
function placesIn(place: Place): Places & Pick<WorkflowSource, 'isRepeated'> {
  const there = (): Place => place;
  return { place: there, placeOfField: there, placeOfHandler: there, placeInHandler: there, isRepeated: () => false };
}
