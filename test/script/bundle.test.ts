import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { authorPosition, mapPosition, ScriptInvalidError } from '#script';
import { describeInVm } from './describe-in-vm.ts';
import { assertMarked, compiled, findingsOf, found, written } from './written.ts';

const repository = dirname(dirname(import.meta.dirname));

/** A small valid workflow whose name is this expression. */
function named(expression: string, imports = ''): string {
  return `import { defineWorkflow } from 'pawl';
${imports}
export default defineWorkflow({ name: ${expression}, topics: { a: {} } })
  .consumer('c', { subscribe: ['a'], prepare: async (ctx) => ctx.idle() });
`;
}

describe('what is packed', () => {
  test('the code leaves its definition where the sandbox looks for it', async (t) => {
    const { code } = await compiled(join(written(t, { 'flow.ts': named("'x'") }), 'flow.ts'));
    const world: { __pawl_workflow?: { name: string; consumers: Record<string, { prepare: unknown }> } } = {};
    runInNewContext(code, world);
    assert.equal(world.__pawl_workflow?.name, 'x');
    assert.equal(typeof world.__pawl_workflow?.consumers.c?.prepare, 'function');
    assert.deepEqual(Object.keys(world), ['__pawl_workflow']);
  });

  test('local files of every kind and packages of both kinds', async (t) => {
    const folder = written(t, {
      'package.json': '{}',
      'flows/flow.ts': named(
        '[one, two, three.name, four(), five].join(".")',
        `import { one } from '../lib/one.js';
import two from '../lib/two.cjs';
import three from '../lib/three.json';
import four from 'four';
import { five } from '@scope/five/deep';`,
      ),
      'lib/one.ts': 'export const one: string = "one";\n',
      'lib/two.cjs': 'module.exports = "two";\n',
      'lib/three.json': '{ "name": "three" }',
      'node_modules/four/package.json': '{ "name": "four", "main": "./main.js" }',
      'node_modules/four/main.js': 'const events = require("events");\nmodule.exports = () => "four" + events;\n',
      'node_modules/events/package.json': '{ "name": "events" }',
      'node_modules/events/index.js': 'module.exports = "-events";\n',
      'node_modules/@scope/five/package.json':
        '{ "name": "@scope/five", "type": "module", "exports": { "./deep": "./d.js" } }',
      'node_modules/@scope/five/d.js': 'export const five = "five";\n',
    });
    assert.equal((await compiled(join(folder, 'flows/flow.ts'))).name, 'one.two.three.four-events.five');
  });

  test('a validator from npm', async (t) => {
    const folder = written(t, {
      'flow.ts': `import { defineWorkflow } from 'pawl';
import { z } from 'zod';
export default defineWorkflow({ name: 'x', topics: { a: z.object({ id: z.string() }) } })
  .consumer('c', { subscribe: ['a'], prepare: async (ctx) => ctx.idle() });
`,
    });
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
    const { code, findings } = await compiled(join(folder, 'flow.ts'));
    assert.deepEqual(findings, []);
    const world: { __pawl_workflow?: { topics: { a: { schema: { parse(value: unknown): unknown } } } } } = {};
    runInNewContext(code, world);
    assert.throws(() => world.__pawl_workflow?.topics.a.schema.parse({ id: 5 }));
  });

  test('a tsconfig beside the script changes nothing', async (t) => {
    const texts = { 'flow.ts': named("'x'") };
    const plain = await compiled(join(written(t, texts), 'flow.ts'));
    const odd = written(t, {
      ...texts,
      'tsconfig.json': '{ "extends": "./nowhere.json", "compilerOptions": { "target": "es5" } }',
    });
    assert.equal((await compiled(join(odd, 'flow.ts'))).contentHash, plain.contentHash);
  });
});

describe('the content hash', () => {
  const hashOf = async (t: { after(done: () => void): void }, texts: Record<string, string>, entry = 'flow.ts') =>
    (await compiled(join(written(t, texts), entry))).contentHash;

  test('is the same wherever the script lies, however it is laid out', async (t) => {
    const lib = 'module.exports = "x";\n';
    const texts = { 'flow.ts': named('lib', "import lib from './lib.cjs';"), 'lib.cjs': lib };
    const laidOut = `// a comment\n${named('\n\n  lib', "import lib from './lib.cjs';")}`;
    const hash = await hashOf(t, texts);
    assert.match(hash, /^[0-9a-f]{64}$/);
    assert.equal(await hashOf(t, texts), hash);
    assert.equal(await hashOf(t, { 'flow.ts': laidOut, 'lib.cjs': lib }), hash);
    const elsewhere = { 'a/b/flow.ts': texts['flow.ts'], 'a/b/lib.cjs': lib };
    assert.equal(await hashOf(t, elsewhere, 'a/b/flow.ts'), hash);
  });

  test('is another when anything the script does is', async (t) => {
    const texts = { 'flow.ts': named('lib', "import lib from './lib.ts';"), 'lib.ts': 'export default "x";\n' };
    const hash = await hashOf(t, texts);
    assert.notEqual(await hashOf(t, { ...texts, 'lib.ts': 'export default "y";\n' }), hash);
    assert.notEqual(
      await hashOf(t, { ...texts, 'flow.ts': texts['flow.ts'].replace('ctx.idle()', 'undefined') }),
      hash,
    );
  });
});

describe('what cannot be packed is found on its line', () => {
  test('Node, addresses, and files that are not there', async (t) =>
    assertMarked(t, {
      'flow.ts': named(
        "'x'",
        `import './lib.ts';
import { readFileSync } from 'node:fs'; //! impure-import
import path from 'path'; //! impure-import
import 'https://example.com/x.js'; //! impure-import
import './nowhere.ts'; //! unresolved-import
import 'not-installed'; //! unresolved-import
import 'pawl/inside'; //! unresolved-import
Object.assign({}, readFileSync, path);`,
      ),
      'lib.ts': `export const os = require('os'); //! impure-import\n`,
    }));

  test('a package that is impure, where the author lets it in', async (t) =>
    assertMarked(t, {
      'flow.ts': named(
        "'x'",
        `import { pure } from './lib.ts';
import 'impure'; //! impure-import
Object.assign({}, pure);`,
      ),
      'lib.ts': `export const pure = 1;
export * from 'native'; //! impure-import
`,
      'node_modules/impure/index.js': 'import "./inner.js";\n',
      'node_modules/impure/inner.js': 'import "fs";\n',
      'node_modules/native/index.js': 'module.exports = require("./x.node");\n',
      'node_modules/native/x.node': '',
    }));

  test('a file outside the project', async (t) =>
    assertMarked(
      t,
      {
        'secrets.json': '{ "name": "x" }',
        'project/package.json': '{}',
        'project/flows/flow.ts': named('s.name', `import s from '../../secrets.json'; //! outside-project`),
      },
      'project/flows/flow.ts',
    ));

  test('what is no syntax', async (t) => {
    await assertMarked(t, { 'flow.ts': named("'x'", 'const x = ; //! syntax') });
    await assertMarked(t, {
      'flow.ts': named("'x'", "import './lib.js';"),
      'lib.js': 'let a = 1;\nlet a = 2; //! syntax\n',
    });
  });

  test('await at the top level', async (t) =>
    assertMarked(t, { 'flow.ts': named("'x'", 'await Promise.resolve(); //! syntax') }));

  test('what is nested too deeply to be read', async (t) => {
    for (const deep of [`${'['.repeat(3_000)}${']'.repeat(3_000)}`, Array(20_000).fill('Math.abs(1)').join('+')]) {
      assert.deepEqual(await found(t, { 'flow.ts': named("'x'", `export const deep = ${deep};`) }), [
        'flow.ts:1 syntax',
      ]);
    }
  });

  test('a file that is not there, or no script', async (t) => {
    assert.deepEqual(await found(t, {}), ['flow.ts:1 no-such-file']);
    assert.deepEqual(await found(t, { 'flow.json': '{}' }, 'flow.json'), ['flow.json:1 not-a-script']);
    assert.deepEqual(await found(t, { 'flow.md': '# x' }, 'flow.md'), ['flow.md:1 not-a-script']);
    assert.deepEqual(await found(t, { 'flow.ts/x': '' }), ['flow.ts:1 not-a-script']);
  });

  test('more than 1 MiB', async (t) => {
    const text = named("'x' + long.length", `const long = '${'x'.repeat(1_024 * 1_024)}';`);
    assert.deepEqual(await found(t, { 'flow.ts': text }), ['flow.ts:1 too-large']);
  });
});

describe('a file that is no workflow', () => {
  test('without a default export', async (t) => {
    assert.deepEqual(await found(t, { 'flow.ts': "import 'pawl';\n" }), ['flow.ts:1 no-default-export']);
    assert.deepEqual(await found(t, { 'flow.ts': '' }), ['flow.ts:1 no-default-export']);
  });

  test('whose default export is something else', async (t) => {
    for (const value of ['5', 'null', '{ name: "x" }', '() => 1']) {
      await assertMarked(t, { 'flow.ts': `const a = 1;\nexport default (${value}); //! not-a-workflow\n` });
    }
  });

  test('that throws while it is loaded: the line of the author', async (t) => {
    await assertMarked(t, {
      'flow.ts': named(
        "'x'",
        `import { check } from './lib.ts';
interface Nothing { a: string }
check(1);`,
      ),
      'lib.ts': `type A = string;
export function check(n: number): A {
  throw new Error('no ' + n); //! top-level-throws
}
`,
    });
    await assertMarked(t, {
      'flow.ts': `import { defineWorkflow } from 'pawl';
export default defineWorkflow(
  { name: 'x' })
  .producer('p'); //! top-level-throws
`,
    });
  });

  test('that never ends while it is loaded', async (t) => {
    const findings = await found(t, { 'flow.ts': named("'x'", 'for (;;);') });
    assert.deepEqual(findings, ['flow.ts:3 top-level-throws']);
  });

  test('all of it is said at once', async (t) => {
    const folder = written(t, { 'flow.ts': named("'x y'").replace("['a']", "['b']") });
    const findings = await findingsOf(join(folder, 'flow.ts'));
    assert.deepEqual(
      findings.map(({ code, severity }) => [severity, code]),
      [
        ['error', 'name'],
        ['warning', 'unread-topic'],
        ['error', 'undeclared-topic'],
      ],
    );
    await assert.rejects(compiled(join(folder, 'flow.ts')), (error: unknown) => {
      assert.ok(error instanceof ScriptInvalidError);
      assert.match(error.message, /2 problems, the first at .*flow\.ts:3:\d+ "x y" is no name for a workflow/);
      assert.deepEqual(error.findings, findings);
      return true;
    });
  });
});

describe('positions', () => {
  const texts = {
    'flow.ts': named(
      "'x'",
      `import { boom } from './lib/boom.ts';
interface Order {
  id: string;
}
export const order: Order = { id: 'o' };
Object.assign(globalThis, { boom });`,
    ),
    'lib/boom.ts': `type N = number;

export function boom(n: N): never {
  throw new Error(\`no \${n}\`);
}
`,
  };

  test('in the compiled code lead back to what the author wrote', async (t) => {
    const script = await compiled(join(written(t, texts), 'flow.ts'));
    const lines = script.code.split('\n');
    const line = lines.findIndex((text) => text.includes('throw new Error(`no'));
    const column = lines[line]?.indexOf('throw') ?? -1;
    assert.deepEqual(mapPosition(script, line + 1, column + 1), { file: 'lib/boom.ts', line: 4, column: 3 });
    assert.equal(mapPosition(script, 1, 1), undefined);
  });

  test('of a stack are those of the first frame that is the author’s own', async (t) => {
    const script = await compiled(join(written(t, texts), 'flow.ts'));
    const failed = await describeInVm(`${script.code}\nglobalThis.boom(7);`);
    assert.ok(failed.kind === 'failed');
    assert.deepEqual(authorPosition(script, failed.stack), { file: 'lib/boom.ts', line: 4, column: 9 });
    const sdkLine = script.code.split('\n').findIndex((text) => text.includes('needs an object, and got'));
    const inSdk = { line: sdkLine + 1, column: 5 };
    assert.match(mapPosition(script, inSdk.line, inSdk.column)?.file ?? '', /^pawl:workflow\.ts$/);
    assert.equal(authorPosition(script, [inSdk]), undefined);
  });

  test('inside a package are nobody’s: the caller is the first frame that counts', async (t) => {
    const folder = written(t, {
      'flow.ts': named(
        "'x'",
        `import { helper } from './helper.ts';
import { burst } from 'burst';
helper();
burst(
  1);`,
      ),
      'helper.ts': 'export function helper() {\n  return 1;\n}\n',
      'node_modules/burst/package.json': '{ "name": "burst", "type": "module" }',
      'node_modules/burst/index.js': `export function burst(n) {
  const words = 'burst ' + n;
  throw new Error(words);
}
`,
    });
    const [finding] = await findingsOf(join(folder, 'flow.ts'));
    assert.deepEqual([finding?.code, finding?.line], ['top-level-throws', 5]);
    assert.match(finding?.message ?? '', /Error: burst 1$/);
  });
});

describe('the process that packs', () => {
  const children = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
  const isPacker = (pid: string) =>
    existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('esbuild');

  test('is gone when nobody packs any more, however many packed at once', async (t) => {
    const file = join(written(t, { 'flow.ts': named("'x'") }), 'flow.ts');
    await compiled(file);
    await Promise.all([compiled(file), compiled(file), compiled(file)]);
    for (let looks = 0; looks < 3_000 && children().some(isPacker); looks++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(!children().some(isPacker), 'it is still there');
    assert.equal((await compiled(file)).name, 'x', 'and comes back when it is needed');
  });
});
