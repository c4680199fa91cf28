import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createSandboxPool } from '#sandbox';
import { authorPosition, type CompiledScript, compileScript, type Finding, validateScript } from '#script';
import { CATALOGUE } from '../sdk/more-connectors.ts';
import { compiled, written } from './written.ts';

const pool = createSandboxPool({ children: 1, limits: { cpuMs: 500 } });
after(() => pool.close());

const options = (file: string) => ({ file, describe: (code: string) => pool.describe(code), connectors: CATALOGUE });
const flow = (top: string): string => `import { defineWorkflow } from 'pawl';
${top}
export default defineWorkflow({ name: 'x', uses: { shop: 'http' }, topics: { a: {} } })
  .consumer('c', {
    subscribe: ['a'],
    state: { n: 1 },
    async prepare(ctx, state) {
      if (state.n > 1)
        throw new Error('too many');
      return ctx.idle({ wakeAt: state.n });
    },
  });
`;

async function found(t: { after(done: () => void): void }, text: string): Promise<Finding[]> {
  return await validateScript(options(join(written(t, { 'flow.ts': text }), 'flow.ts')));
}

describe('in the real sandbox', () => {
  const folder = join(dirname(import.meta.dirname), 'sdk', 'workflows');
  for (const file of readdirSync(folder).filter((name) => name !== 'w1-one-by-one.ts')) {
    test(`${file} says of itself what it says elsewhere`, async () => {
      assert.deepEqual(await compileScript(options(join(folder, file))), await compiled(join(folder, file)));
    });
  }

  test('a top level that throws is shown on its line', async (t) => {
    const [finding] = await found(
      t,
      flow("const check = (n: number): never => {\n  throw new Error('no ' + n);\n};\ncheck(1);"),
    );
    assert.deepEqual([finding?.code, finding?.line], ['top-level-throws', 3]);
    assert.match(finding?.message ?? '', /no 1/);
  });

  test('a top level that never ends, or asks for the time, is refused', async (t) => {
    for (const top of ['Math.random();', 'const at = Date.now();']) {
      const [finding] = await found(t, flow(top));
      assert.deepEqual([finding?.code, finding?.line], ['top-level-throws', 2], top);
    }
    // Nobody can say which line it was on when it was stopped: the workflow itself is named.
    const [endless] = await found(t, flow('for (;;);'));
    assert.deepEqual([endless?.code, endless?.line], ['top-level-throws', 3]);
    assert.match(endless?.message ?? '', /limit cpu/);
  });

  test('what is no workflow is refused', async (t) => {
    const [finding] = await found(t, '\nexport default 5;\n');
    assert.deepEqual([finding?.code, finding?.line], ['not-a-workflow', 2]);
  });

  test('a phase runs with its initial state, and where it throws is the line of the author', async (t) => {
    const script = await compileScript(options(join(written(t, { 'flow.ts': flow('') }), 'flow.ts')));
    const first = await prepare(script, '[]');
    assert.ok(first.kind === 'returned');
    assert.deepEqual(JSON.parse(first.result ?? ''), { idle: true, wakeAt: 1 });
    const failed = await prepare(script, '[{"n":2}]');
    assert.ok(failed.kind === 'failed');
    const { file, line } = authorPosition(script, failed.stack) ?? {};
    assert.deepEqual([failed.message, file, line], [failed.message, 'flow.ts', 9]);
    assert.match(failed.message, /too many/);
  });

  async function prepare({ code, contentHash }: CompiledScript, args: string) {
    return await pool.run({
      scriptId: contentHash,
      code,
      handler: 'c',
      runId: 'r1',
      startedAt: 0,
      phase: 'prepare',
      args,
      uses: ['shop'],
      onCall: () => Promise.resolve('null'),
    });
  }
});
