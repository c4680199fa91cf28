// The model is pure: what it decides follows from what it was given.

import { specifierOf } from './import-rules.ts';
import { place, type SourceFile, sourceFiles } from './source-files.ts';

const IMPURE: readonly { readonly what: string; readonly words: RegExp }[] = [
  { what: 'reads a clock', words: /\bDate\s*\.\s*now\b|\bnew\s+Date\b|\bperformance\b|\bTemporal\b/g },
  { what: 'draws at random', words: /\bMath\s*\.\s*random\b|\bcrypto\b/g },
  { what: 'waits', words: /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/g },
  { what: 'is asynchronous', words: /(?<![.#])\b(?:async|await|Promise|PromiseLike)\b/g },
  {
    what: 'touches the world',
    words: /(?<![.#])\b(?:process\s*[.[]|globalThis\b|console\b|fetch\s*\(|import\s*\(|require\s*\()/g,
  },
];

/** What base offers that has a clock, chance or a hook behind it. */
const IMPURE_IN_BASE = /\b(?:systemClock|monotonicIds|onKillPoint|reach)\b|\*/g;

export function purityOffences(root: string): string[] {
  return modelFiles(root).flatMap((file) => [
    ...IMPURE.flatMap(({ what, words }) =>
      [...file.code.matchAll(words)].map((match) => `${place(file, match.index)} ${what}: ${match[0]}`),
    ),
    ...file.literals.flatMap((literal) => {
      const specifier = specifierOf(file, literal);
      if (specifier === undefined || specifier.startsWith('.')) return [];
      if (specifier !== '#base') return [`${place(file, literal.start)} imports more than base: ${specifier}`];
      const clause = /(?:import|export)\s(?:(?!\b(?:import|export)\s)[^;])*$/.exec(file.code.slice(0, literal.start));
      const impure = [...(clause?.[0] ?? '').matchAll(IMPURE_IN_BASE)];
      return impure.map(([name]) => `${place(file, literal.start)} takes what is not pure from base: ${name}`);
    }),
  ]);
}

/** A switch over a union has no default: a new state must break the build where someone must think. */
export function switchOffences(root: string): string[] {
  return modelFiles(root).flatMap((file) =>
    [...file.code.matchAll(/\bdefault\s*:/g)]
      .filter((match) => isInSwitch(file.code, match.index))
      .map((match) => `${place(file, match.index)} has a default in a switch`),
  );
}

/** Whether the innermost open brace before `offset` is the body of a switch. */
function isInSwitch(code: string, offset: number): boolean {
  let depth = 0;
  for (let i = offset - 1; i >= 0; i--) {
    if (code[i] === '}') depth++;
    if (code[i] === '{' && depth-- === 0) return /\bswitch\s*\([^{}]*\)\s*$/.test(code.slice(0, i));
  }
  return false;
}

function modelFiles(root: string): SourceFile[] {
  return sourceFiles(root, 'src/model').filter((file) => !file.isTest);
}
