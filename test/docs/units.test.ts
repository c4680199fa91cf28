import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { type } from '../cli/typed-terminal.ts';
import { written } from '../script/written.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'deploy', 'systemd');
const UNITS = readdirSync(folder);
const docs = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');

const textOf = (unit: string): string => readFileSync(join(folder, unit), 'utf8');
const valuesOf = (unit: string, key: string): string[] =>
  [...textOf(unit).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);
const wordsOf = (unit: string, key: string): string[] => valuesOf(unit, key).flatMap((value) => value.split(' '));

for (const unit of UNITS) {
  test(`${unit} starts a command that there is, with options that it has`, async () => {
    const [program, command = '', ...options] = wordsOf(unit, 'ExecStart');
    assert.equal(program, '/opt/pawl/bin/pawl.js');
    const help = (await type([command, '--help'])).out;
    const flags = options.filter((option) => option.startsWith('--'));
    assert.ok(flags.length > 0);
    for (const flag of flags) assert.match(help, new RegExp(`${flag}[ ,]`), flag);
  });

  test(`what ${unit} puts into its command has a value, and whoever runs it may set another`, () => {
    const variables = [...textOf(unit).matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
    const before = textOf(unit).slice(0, textOf(unit).indexOf('\nEnvironmentFile='));
    for (const name of variables) {
      assert.match(
        before,
        new RegExp(`^Environment=(.* )?${name}=\\S`, 'm'),
        `${name}, before the files that win over it`,
      );
      assert.match(docs, new RegExp(`^\\| \`${name}\` \\|`, 'm'), `${name} is in docs/operations.md`);
    }
  });
}

test('a worker’s unit takes its pool and its concurrency from its environment', () => {
  const [start = ''] = valuesOf('pawl-worker@.service', 'ExecStart');
  assert.match(start, /--pool \$\{PAWL_POOL\} --concurrency \$\{PAWL_CONCURRENCY\}/);
});

test('an executor and a single engine of one machine are never both started', () => {
  assert.deepEqual(valuesOf('pawl-executor.service', 'Conflicts'), ['pawl.service']);
  // Without an order the one would be started while the other still has its port.
  assert.ok(wordsOf('pawl-executor.service', 'After').includes('pawl.service'));
});

test('files that the docs have an engine write or read are where its unit can', () => {
  for (const unit of UNITS) assert.deepEqual(valuesOf(unit, 'PrivateTmp'), ['yes']);
  const [, section = ''] = docs.split('## One workflow to another engine');
  const files = [...section.matchAll(/^pawl (?:export .*--out|import) (\S+)/gm)].map(([, file = '']) => file);
  assert.equal(files.length, 2);
  for (const file of files) assert.match(file, /^\/var\/lib\/pawl\//);
});

const verifies = spawnSync('systemd-analyze', ['--version']).status === 0;

test('systemd can read the units', { skip: !verifies && 'there is no systemd here' }, (t) => {
  const place = written(t, {});
  // It looks whether the program is there; and whether a template is right shows in an instance.
  for (const unit of UNITS) {
    const text = textOf(unit).replace('/opt/pawl/bin/pawl.js', join(root, 'bin', 'pawl.js'));
    writeFileSync(join(place, unit.replace('@.', '@1.')), text);
  }
  const files = readdirSync(place).filter((name) => name.endsWith('.service'));
  assert.equal(files.length, UNITS.length);
  const paths = files.map((name) => join(place, basename(name)));
  const { stderr } = spawnSync('systemd-analyze', ['verify', ...paths], { encoding: 'utf8' });
  // Of what else is on this machine it complains as well.
  assert.deepEqual(
    stderr.split('\n').filter((line) => line.includes('pawl')),
    [],
  );
});
