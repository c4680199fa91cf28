import { z } from 'zod';
import { fill, problemOfTemplate, type TemplateValues, valueAt } from './template.ts';

// How an operator says, once, by which GET the provider tells whether a call was done:
//
//   reconcile: {
//     get: '/bookings?ref={json.id}',                             the lookup, filled from the call
//     applied: { status: 200, has: { 'body.items[*].ref': '{json.id}' } },
//     failed:  { status: 200, hasNot: { 'body.items[*].ref': '{json.id}' } },
//     result: 'body.items[*]',                                    becomes the body of the result
//   }
//
// `[*]` is any element of a list: conditions and result that share the list speak of the same element. A condition
// without a status wants a 2xx. Without `failed` the lookup can only find that it happened. Several rules may be given,
// each `for` some methods and paths; the first that fits is used. When neither or both fit, nothing is concluded.
// `hasNot` on a list wants the lookup to return every element that could be the one: a first page is not enough.

const template = z.string().superRefine((text, context) => {
  const problem = problemOfTemplate(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const answerPath = z
  .string()
  .regex(
    /^(?:status|body|headers)(?:$|[.[])/,
    'must begin with body, headers or status, for example "body.items[0].id"',
  )
  .refine((path) => path.split('[*]').length <= 2, 'may hold one [*]');

const wanted = z.union([template, z.number(), z.boolean(), z.null(), z.strictObject({ exists: z.boolean() })]);

const condition = z.strictObject({
  status: z.union([z.int().min(100).max(599), z.array(z.int().min(100).max(599)).min(1)]).optional(),
  has: z.record(answerPath, wanted).optional(),
  hasNot: z.record(answerPath, wanted).optional(),
});

export const reconcileRule = z.strictObject({
  for: z
    .strictObject({
      methods: z.array(z.enum(['post', 'put', 'patch', 'delete'])).optional(),
      /** As in a call; `*` stands for one segment. */
      path: z.string().startsWith('/', 'must begin with "/"').optional(),
    })
    .optional(),
  get: template.refine((text) => text.startsWith('/') && !text.startsWith('//'), 'must begin with one "/"'),
  applied: condition.default({}),
  failed: condition.optional(),
  result: answerPath.optional(),
});

export type ReconcileRule = z.infer<typeof reconcileRule>;
type Condition = z.infer<typeof condition>;
type Wanted = z.infer<typeof wanted>;

export interface LookedUp {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export type Verdict =
  | { readonly kind: 'applied'; readonly body: unknown }
  | { readonly kind: 'failed' }
  | { readonly kind: 'unclear'; readonly why: string };

export function ruleFor(rules: readonly ReconcileRule[], method: string, path: string): ReconcileRule | undefined {
  const bare = path.split('?', 1)[0] ?? '';
  return rules.find(({ for: scope }) => {
    const fitsMethod = scope?.methods === undefined || scope.methods.some((known) => known === method);
    return fitsMethod && (scope?.path === undefined || fitsPath(scope.path, bare));
  });
}

export function lookupPath(rule: ReconcileRule, values: TemplateValues): string | undefined {
  return fill(rule.get, values, encodeURIComponent);
}

export function judge(rule: ReconcileRule, answer: LookedUp, values: TemplateValues): Verdict {
  const empty = templatesOf(rule).find((text) => fill(text, values, (plain) => plain) === undefined);
  if (empty !== undefined) return { kind: 'unclear', why: `the call has nothing to put in "${empty}"` };
  const applied = matchOf(rule.applied, answer, values);
  const failed = rule.failed === undefined ? undefined : matchOf(rule.failed, answer, values);
  if (applied !== undefined && failed !== undefined) {
    return {
      kind: 'unclear',
      why: `the answer ${answer.status} fits both "applied" and "failed" of the reconcile rule`,
    };
  }
  if (failed !== undefined) return { kind: 'failed' };
  if (applied === undefined) {
    return {
      kind: 'unclear',
      why: `the answer ${answer.status} fits neither "applied" nor "failed" of the reconcile rule`,
    };
  }
  if (rule.result === undefined) return { kind: 'applied', body: answer.body };
  const body = valueAt(answer, rule.result.replace('[*]', `[${applied.element}]`));
  return { kind: 'applied', body: body ?? null };
}

interface Match {
  /** Which element of the list the conditions with [*] found. */
  readonly element: number;
}

function matchOf(asked: Condition, answer: LookedUp, values: TemplateValues): Match | undefined {
  if (!fitsStatus(asked.status, answer.status)) return undefined;
  const has = Object.entries(asked.has ?? {});
  const hasNot = Object.entries(asked.hasNot ?? {});
  // That something is not there can only be said of an answer in which it could have been.
  if (!hasNot.every(([path]) => couldHold(answer, path))) return undefined;
  if (hasNot.length > 0 && elementWith(hasNot, answer, values) !== undefined) return undefined;
  const element = elementWith(has, answer, values);
  return element === undefined ? undefined : { element };
}

/** The first element for which every condition holds; 0 when they speak of no list. */
function elementWith(
  conditions: readonly (readonly [string, Wanted])[],
  answer: LookedUp,
  values: TemplateValues,
): number | undefined {
  const lists = conditions.flatMap(([path]) =>
    path.includes('[*]') ? [valueAt(answer, path.split('[*]')[0] ?? '')] : [],
  );
  const length = lists.length === 0 ? 1 : Math.max(...lists.map((list) => (Array.isArray(list) ? list.length : 0)));
  for (let element = 0; element < length; element++) {
    const holds = conditions.every(([path, value]) =>
      isWanted(valueAt(answer, path.replace('[*]', `[${element}]`)), value, values),
    );
    if (holds) return element;
  }
  return undefined;
}

function couldHold(answer: LookedUp, path: string): boolean {
  const [list, element] = path.split('[*]');
  if (element !== undefined) return Array.isArray(valueAt(answer, list ?? ''));
  return !path.startsWith('body') || (typeof answer.body === 'object' && answer.body !== null);
}

function templatesOf(rule: ReconcileRule): string[] {
  return [rule.applied, rule.failed]
    .flatMap((asked) => [...Object.values(asked?.has ?? {}), ...Object.values(asked?.hasNot ?? {})])
    .filter((value) => typeof value === 'string');
}

function isWanted(found: unknown, value: Wanted, values: TemplateValues): boolean {
  if (typeof value === 'object' && value !== null) return (found !== undefined && found !== null) === value.exists;
  if (typeof value !== 'string') return found === value;
  // A filled text equals a number too: {json.id} may be 7 in the call and "7" in the answer.
  const text = fill(value, values, (plain) => plain);
  return text !== undefined && (typeof found === 'string' || typeof found === 'number') && `${found}` === text;
}

function fitsStatus(asked: Condition['status'], status: number): boolean {
  if (asked === undefined) return status >= 200 && status < 300;
  return Array.isArray(asked) ? asked.includes(status) : asked === status;
}

function fitsPath(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const wantedParts = pattern.split('/');
  return (
    parts.length === wantedParts.length && wantedParts.every((part, index) => part === '*' || part === parts[index])
  );
}
