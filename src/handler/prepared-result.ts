import { z } from 'zod';
import { shownLine } from '#base';
import { NAME_CHARS_MAX } from '#model';

/** What `prepare` gave back, taken apart. */
export interface Prepared {
  readonly reservations: readonly { readonly topic: string; readonly ids: readonly string[] }[];
  /** The result as it is kept and handed to `mutate` and `next`; undefined when the script was idle. */
  readonly json: string | undefined;
  readonly title: string | null;
  readonly wakeAt: number | undefined;
}

const NAME = z.string().max(NAME_CHARS_MAX);
const TIME = z.union([z.string(), z.number()]);
const IDLE = z.looseObject({ idle: z.literal(true), wakeAt: TIME.optional() });
const RESULT = z.looseObject({
  // Names as long as a name may be: what is refused is told to people, with the name in it.
  reservations: z.array(z.object({ topic: NAME, ids: z.array(NAME) })),
  data: z.unknown(),
  ui: z.looseObject({ title: z.string() }).optional(),
  wakeAt: TIME.optional(),
});

/** The script is not trusted: its answer is parsed, and what does not fit is its mistake. */
export function parsePrepared(json: string | undefined): Prepared | { problem: string } {
  const value: unknown = json === undefined ? null : JSON.parse(json);
  if (value === null) return { reservations: [], json: undefined, title: null, wakeAt: undefined };
  // Of what is not idle it need not be asked: to be refused takes longer than to fit.
  const idle = isIdle(value) ? IDLE.safeParse(value) : undefined;
  if (idle?.success) return { reservations: [], json: undefined, title: null, wakeAt: timeOf(idle.data.wakeAt) };
  const result = RESULT.safeParse(value);
  if (!result.success)
    return { problem: `prepare must return { reservations, data } or ctx.idle(): ${firstIssue(result.error)}` };
  const { reservations, data, ui, wakeAt } = result.data;
  return {
    reservations: reservations.filter(({ ids }) => ids.length > 0),
    json: JSON.stringify({ reservations, data: data ?? null, ui }),
    title: ui === undefined ? null : shownLine(ui.title),
    wakeAt: timeOf(wakeAt),
  };
}

function isIdle(value: unknown): boolean {
  return (value as { readonly idle?: unknown }).idle === true;
}

function timeOf(time: string | number | undefined): number | undefined {
  if (time === undefined) return undefined;
  const at = typeof time === 'number' ? time : Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.join('.') || 'the result'}: ${issue.message}` : error.message;
}
