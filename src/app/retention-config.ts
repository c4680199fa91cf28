import { z } from 'zod';
import { PawlError } from '#base';

/** Less than a day would remove what somebody is just looking at; more than a century is for ever. */
const SHAPE = z.strictObject({ keepDays: z.number().min(1).max(36_500) }).optional();

/** `retention` of the config, checked: how many days history is kept, or undefined for ever. */
export function keepDaysOf(given: unknown): number | undefined {
  const parsed = SHAPE.safeParse(given);
  if (parsed.success) return parsed.data?.keepDays;
  const [issue] = parsed.error.issues;
  throw new PawlError({
    code: 'config-invalid',
    message: `${['retention', ...(issue?.path ?? []).map(String)].join('.')} of the config cannot be used`,
    why: issue?.message ?? 'it has another shape',
    next: [{ label: 'write retention: { keepDays: 90 }, or leave it out to keep everything' }],
  });
}
