import type { ReadLimits, RecordedCall } from '../connector.ts';
import type { Reconciled } from '../outcome.ts';
import type { HttpResult } from './answer-body.ts';
import type { MutationArguments } from './arguments.ts';
import { readArguments } from './arguments.ts';
import type { HttpConnection } from './connection.ts';
import { httpRead } from './read.ts';
import { judge, lookupPath, ruleFor } from './reconcile-rule.ts';
import type { TemplateValues } from './template.ts';

/** Asks the provider, by the operator's rule, whether a call that may have gone out was done. */
export async function httpReconcile(
  connection: HttpConnection,
  method: string,
  { args, idempotencyKey }: RecordedCall<MutationArguments>,
  limits: ReadLimits,
): Promise<Reconciled> {
  const rule = ruleFor(connection.config.reconcile, method, args.path);
  if (rule === undefined) return { kind: 'retry', message: 'the connection has no reconcile rule for this call' };
  const values = valuesOf(args, idempotencyKey);
  const path = lookupPath(rule, values);
  if (path === undefined) return { kind: 'retry', message: `the call has nothing to put in "${rule.get}"` };
  const lookup = readArguments.safeParse({ path });
  if (!lookup.success)
    return { kind: 'retry', message: `"${path}" cannot be looked up: ${lookup.error.issues[0]?.message}` };
  const outcome = await httpRead(connection, 'GET', lookup.data, limits);
  if (outcome.kind === 'not_done') {
    const { error } = outcome;
    return { kind: 'retry', message: error.message, afterMs: error.retryAfterMs, error };
  }
  const verdict = judge(rule, outcome.result, values);
  switch (verdict.kind) {
    case 'applied': {
      const result: HttpResult = { ...outcome.result, body: verdict.body };
      return { kind: 'applied', result };
    }
    case 'failed':
      return { kind: 'failed' };
    case 'unclear':
      return { kind: 'retry', message: verdict.why };
  }
}

function valuesOf({ path, query, json, form }: MutationArguments, key: string): TemplateValues {
  return { path: path.split('?', 1)[0] ?? '', key, json, form, query };
}
