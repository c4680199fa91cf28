import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { shapeWords } from './shape-words.ts';

test('a shape is told as it would be written down', () => {
  const words = (schema: z.ZodType): string => shapeWords(z.toJSONSchema(schema, { io: 'input' }) as object);
  assert.equal(words(z.strictObject({ at: z.int(), bytes: z.int().optional() })), '{"at": integer, "bytes"?: integer}');
  assert.equal(words(z.array(z.strictObject({ ok: z.boolean() }))), '[{"ok": true or false}, …]');
  assert.equal(words(z.record(z.string(), z.number()).nullable()), '{NAME: number} or null');
  assert.equal(words(z.union([z.literal('a'), z.enum(['b', 'c']), z.unknown()])), '"a" or "b" or "c" or any JSON');
});
