// script: turns an author's file into one self-contained script with its declarations, or says line by line what is wrong.
// It never runs an author's code itself (that is asked of `describe`), and never keeps a version.
// Start reading at compile.ts, then bundle.ts for what is packed, then check-phases.ts for what is found by reading.

export type { Calls } from './calls.ts';
export type { Catalogue } from './catalogue.ts';
export { isWorkflowName } from './check-declared.ts';
export { type CompileOptions, compileScript, validateScript } from './compile.ts';
export type { CompiledScript, Describe, Description } from './compiled-script.ts';
export { type Finding, type FindingCode, type Place, ScriptInvalidError } from './finding.ts';
export { type GivenCode, scriptFromCode } from './from-code.ts';
export { authorSources, type Manifest, manifestOf, parseManifest, positionText } from './manifest.ts';
export { nextTick, type ScriptSchedule } from './schedule.ts';
export { authorPosition, mapPosition } from './source-map.ts';
export { type NextVersion, nextVersion, type Version } from './version.ts';
