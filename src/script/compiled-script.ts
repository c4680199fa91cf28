import type { Handlers } from '#model';
import { type Bundle, NO_WORKFLOW } from './bundle.ts';
import type { Calls } from './calls.ts';
import { type Declared, parseDescription, type Report, recordOf } from './declared.ts';
import type { Finding } from './finding.ts';
import { parseSchedule, type ScriptSchedule } from './schedule.ts';
import { authorPosition } from './source-map.ts';
import type { Places, WorkflowSource } from './workflow-source.ts';

/** What running the top level of a script gave: the definition as JSON, or why there is none. */
export type Description =
  | { readonly kind: 'returned'; readonly result: string | undefined }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly stack: readonly { readonly line: number; readonly column: number }[];
    };

/** Runs the top level of the code where it can do no harm. */
export type Describe = (code: string) => Promise<Description>;

export interface CompiledScript {
  readonly name: string;
  /** One self-contained script: it leaves its definition in `globalThis.__pawl_workflow`. */
  readonly code: string;
  readonly sourceMap: string;
  readonly contentHash: string;
  readonly handlers: Handlers;
  readonly uses: Readonly<Record<string, string>>;
  /** What it asks of each of them. */
  readonly calls: Calls;
  readonly schedules: Readonly<Record<string, ScriptSchedule>>;
  readonly webhooks: Readonly<Record<string, { readonly verify: string }>>;
  /** Warnings only: a script with an error is not compiled. */
  readonly findings: readonly Finding[];
}

export function compiledScript(
  declared: Declared,
  bundle: Bundle,
  calls: Calls,
  findings: readonly Finding[],
): CompiledScript {
  return {
    name: declared.name,
    ...bundle,
    handlers: handlersOf(declared),
    uses: declared.uses,
    calls,
    schedules: schedulesOf(declared),
    webhooks: webhooksOf(declared),
    findings,
  };
}

/** What the script declares, asked of its own top level. */
export async function declare(
  bundle: Pick<Bundle, 'code' | 'sourceMap'>,
  describe: Describe,
  source: Places & Pick<WorkflowSource, 'isRepeated'>,
  shown: (file: string) => string,
  report: Report,
  warn: Report,
): Promise<Declared | undefined> {
  const description = await describe(bundle.code);
  const declared =
    description.kind === 'returned' ? parseDescription(description.result ?? 'null', source, report, warn) : undefined;
  if (declared) return declared;
  const message = description.kind === 'failed' ? description.message : NO_WORKFLOW;
  if (message.includes(NO_WORKFLOW)) {
    report(source.place(), {
      code: 'not-a-workflow',
      message: NO_WORKFLOW,
      why: 'only what defineWorkflow returns can be deployed',
      fix: 'write export default defineWorkflow({ … })',
    });
  } else if (!source.isRepeated()) {
    const found = description.kind === 'failed' ? authorPosition(bundle, description.stack) : undefined;
    report(found ? { ...found, file: shown(found.file) } : source.place(), {
      code: 'top-level-throws',
      message: `the script fails while it is loaded: ${message}`,
      why: 'its top level runs before anything else, without ctx, time or chance',
      fix: 'let the top level only declare; move work into a handler',
    });
  }
  return undefined;
}

function handlersOf({ topics, producers, consumers }: Declared): Handlers {
  return {
    topics,
    producers: producers.map(({ name, publishes, webhook }) => ({ name, publishes, webhook: webhook !== undefined })),
    consumers: consumers.map(({ name, subscribe, publishes, hasMutate, hasNext }) => ({
      name,
      subscribe,
      publishes,
      hasMutate,
      hasNext,
    })),
  };
}

function schedulesOf({ producers }: Declared): Record<string, ScriptSchedule> {
  return Object.fromEntries(
    producers.flatMap(({ name, schedule }) => {
      const parsed = schedule === undefined ? undefined : parseSchedule(schedule);
      return parsed?.kind === 'schedule' ? [[name, parsed.schedule]] : [];
    }),
  );
}

function webhooksOf({ producers }: Declared): Record<string, { verify: string }> {
  return Object.fromEntries(
    producers.flatMap(({ name, webhook }) =>
      webhook === undefined ? [] : [[name, { verify: String(recordOf(webhook).verify) }]],
    ),
  );
}
