import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { importOffences, ROOMS, ROOMS_TRUSTED_WITH_STORE, roomOffences } from './import-rules.ts';
import { temporaryTree } from './temporary-tree.ts';

const repository = dirname(dirname(import.meta.dirname));

test('rooms meet only at #name, in the order of the table', () => {
  assert.deepEqual(importOffences(repository), []);
});

test('every room is in the table and has one door', () => {
  assert.deepEqual(roomOffences(repository), []);
});

test('a room imports only rooms above it in the table', () => {
  const names = Object.keys(ROOMS);
  for (const [room, allowed] of Object.entries(ROOMS)) {
    for (const target of allowed) assert.ok(names.indexOf(target) < names.indexOf(room), `${room} imports ${target}`);
  }
});

test('the store, which can write, is given to nobody else', () => {
  const users = Object.keys(ROOMS).filter((room) => ROOMS[room]?.includes('store'));
  assert.deepEqual(
    users.filter((room) => !ROOMS_TRUSTED_WITH_STORE.includes(room)),
    [],
  );
});

describe('the import rules bite', () => {
  const offending: Readonly<Record<string, readonly [path: string, text: string, says: RegExp]>> = {
    'a path into another room': ['src/store/a.ts', "import { x } from '../model/states.ts';", /enters model by a path/],
    'a path into the door of another room': ['src/store/a.ts', "export * from '../model/index.ts';", /enters model/],
    'a path to start a thread in another room': [
      'src/model/a.ts',
      "const at = new URL('../store/thread.ts', import.meta.url);",
      /enters store by a path/,
    ],
    'a deep import': ['src/store/a.ts', "import { x } from '#model/states.ts';", /reaches past a door/],
    'an import against the order': ['src/model/a.ts', "import { x } from '#store';", /model may not import #store/],
    'a type imported against the order': ['src/base/a.ts', "import type { X } from '#model';", /base may not import/],
    'a type imported in place': ['src/base/a.ts', "let x: import('#model').X;", /base may not import #model/],
    'a re-export against the order': ['src/base/a.ts', "export { x } from '#model';", /base may not import #model/],
    'an import for its effect': ['src/model/a.ts', "import '#store';", /model may not import #store/],
    'an import at run time': ['src/model/a.ts', "const x = await import('#store');", /model may not import #store/],
    'a computed import': ['src/model/a.ts', 'const x = await import(name);', /computed/],
    'a room that is not in the table': ['src/model/a.ts', "import { x } from '#utils';", /no room of the table/],
    'a file of a room that is not in the table': ['src/attic/a.ts', "import '#base';", /does not know/],
    'the own door': ['src/model/a.ts', "import { x } from '#model';", /its own room/],
    'a test imported by what it tests': ['src/model/a.ts', "import { x } from './b.test.ts';", /imports a test/],
    'test support in the product': ['src/model/a.ts', "import { x } from '../../test/support/x.ts';", /leaves src/],
    'an absolute path': ['src/model/a.ts', "import { x } from '/srv/pawl/src/store/index.ts';", /absolute/],
    'the composition root by a path': ['src/main.ts', "import { x } from './store/index.ts';", /enters store/],
    'a benchmark by a path': ['bench/a.ts', "import { x } from '../src/store/load.ts';", /enters store by a path/],
    'a script that opens the store': ['scripts/a.ts', "import { x } from '#store';", /may not import #store/],
  };
  for (const [name, [path, text, says]] of Object.entries(offending)) {
    test(name, (t) => {
      const offences = importOffences(temporaryTree(t, { [path]: `// one\n${text}\n` }));
      const [offence = ''] = offences;
      assert.equal(offences.length, 1, offences.join('\n'));
      assert.match(offence, says);
      assert.ok(offence.startsWith(`${path}:2 `), offence);
    });
  }
});

test('the import rules let honest code pass', (t) => {
  const tree = temporaryTree(t, {
    'src/main.ts': "import { open } from '#store';\nimport { Manager } from '#execution';\n",
    'src/execution/manager.ts':
      "import { load } from '#store';\nimport type { Write } from '#model';\nimport './queue.ts';\n",
    'src/execution/manager.test.ts':
      "import { Manager } from '#execution';\nimport { world } from '../../test/support/world.ts';\n",
    'src/model/decide/stop.ts':
      "// import '#store'\nimport { assert } from '#base';\nimport { x } from '../states.ts';\n",
    'src/base/log.ts':
      "export const text = `import x from '#store'`;\nimport fs from 'node:fs';\nArray.from('#model');\n",
    'test/crash/a.test.ts': "import { open } from '#store';\nimport { world } from '../support/world.ts';\n",
  });
  assert.deepEqual(importOffences(tree), []);
});

test('the rules about rooms bite', (t) => {
  const tree = temporaryTree(t, {
    'package.json': JSON.stringify({ imports: { '#model': './src/model/states.ts', '#attic/*': './src/attic/*.ts' } }),
    'src/main.ts': '',
    'src/stray.ts': '',
    'src/model/index.ts': '',
    'src/attic/index.ts': '',
  });
  assert.deepEqual(roomOffences(tree), [
    'src/stray.ts belongs to no room: only src/main.ts stands outside',
    'src/attic is not in the table of rooms: say there what it may import',
    'package.json: "#attic" must lead to ./src/attic/index.ts',
    'package.json: "#model" must lead to ./src/model/index.ts',
    'package.json: "#attic/*" leads to no room of the table',
  ]);
});
