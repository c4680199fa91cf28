// Draws the state tables of the model as diagrams into the docs, between markers. `npm run docs` writes them; a test fails when
// a table changed and its drawing did not.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CONSUMER_PHASE_STEPS,
  EVENT_STEPS,
  EXECUTION_STEPS,
  INVARIANTS,
  MUTATION_STEPS,
  ON_BOUNDARY,
  PRODUCER_PHASE_STEPS,
  RUN_STATUS_STEPS,
  WORKFLOW_STATUS_STEPS,
} from '#model';

type Steps = Readonly<Record<string, readonly string[]>>;

const DRAWINGS: Readonly<Record<string, () => string>> = {
  'consumer phase': () => diagram(CONSUMER_PHASE_STEPS),
  'producer phase': () => diagram(PRODUCER_PHASE_STEPS),
  'run status': () => diagram(RUN_STATUS_STEPS),
  event: () => diagram(EVENT_STEPS),
  mutation: () => diagram(MUTATION_STEPS),
  execution: () => diagram(EXECUTION_STEPS),
  workflow: () => diagram(WORKFLOW_STATUS_STEPS),
  boundary: boundaryTable,
  invariants: () => INVARIANTS.map(({ name, says }) => `- **${name}**: ${says}`).join('\n'),
};

export const RENDERED_FILES = ['README.md', 'docs/execution-model.md'];

/** The same text with everything between its markers drawn anew. */
export function render(text: string): string {
  return text.replaceAll(
    /(<!-- drawn: (.+?) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, open: string, name: string, close: string) => {
      const draw = DRAWINGS[name];
      if (!draw) throw new Error(`nothing draws "${name}": there are ${Object.keys(DRAWINGS).join(', ')}`);
      return `${open}${draw()}\n${close}`;
    },
  );
}

function diagram(steps: Steps): string {
  const names = Object.keys(steps);
  const [first] = names;
  const lines = names.flatMap((from) => {
    const to = steps[from] ?? [];
    return to.length === 0 ? [`  ${nodeOf(from)} --> [*]`] : to.map((next) => `  ${nodeOf(from)} --> ${nodeOf(next)}`);
  });
  const labels = names.filter((name) => nodeOf(name) !== name).map((name) => `  ${nodeOf(name)}: ${name}`);
  return ['```mermaid', 'stateDiagram-v2', ...labels, `  [*] --> ${nodeOf(first ?? '')}`, ...lines, '```'].join('\n');
}

/** Mermaid takes no colon in a state's name. */
function nodeOf(name: string): string {
  return name.replace(':', '_');
}

function boundaryTable(): string {
  const rows = Object.entries(ON_BOUNDARY).map(
    ([boundary, { events, pointer, hold }]) =>
      `| ${boundary} | ${events === 'release' ? 'released' : 'stay reserved'} | ${pointer ? 'this run' : '–'} | ${hold ?? '–'} |`,
  );
  return ['| boundary | events | pending retry | hold |', '|---|---|---|---|', ...rows].join('\n');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  for (const file of RENDERED_FILES) writeFileSync(join(root, file), render(readFileSync(join(root, file), 'utf8')));
}
