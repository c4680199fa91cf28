import assert from 'node:assert/strict';
import { type IdKind, idShapeOf } from '#base';
import { type CommandName, type CommandOf, NAME_CHARS_MAX } from '#model';
import { PERSON } from '../support/fixture.ts';
import { forEachStore } from '../support/world.ts';
import { STORIES, type Story } from './stories.ts';

// Every command there is, once as it should be: then with each of its ids missing, malformed, of another kind and unknown, and
// with each name of a person missing.

/** Where an id that nobody has made yet is right, or does no harm. */
const MAY_BE_UNKNOWN: ReadonlySet<string> = new Set([
  'registerWorker worker', // an incarnation brings its own
  'deleteMessage message', // two may have taken the same hint
  'updateConsumerPhase handedOut.0.event', // only asked for events that are reserved
]);

/** What a command may leave out is not missing. */
const MAY_BE_LEFT_OUT: ReadonlySet<string> = new Set(['delivery', 'base', 'parent']);

type Path = readonly (string | number)[];

/** Every place in a command that holds something of this kind. */
function* places(
  value: unknown,
  wanted: (value: unknown, key: string | number) => boolean,
  at: Path = [],
): Generator<Path> {
  if (value === null || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    if (wanted(inner, key)) yield [...at, key];
    yield* places(inner, wanted, [...at, key]);
  }
}

function put(value: unknown, [key, ...rest]: Path, into: unknown): unknown {
  if (key === undefined) return into;
  if (Array.isArray(value))
    return value.map((inner, i) => (String(i) === String(key) ? put(inner, rest, into) : inner));
  const record = value as Record<string, unknown>;
  return { ...record, [key]: put(record[key], rest, into) };
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value);
}

/** Ids that cannot be right, whatever they stand for. */
function badIds(kind: IdKind): readonly unknown[] {
  const other = kind === 'run' ? 'evt_00001' : 'run_00001';
  return [
    '',
    ' ',
    'x',
    other,
    'wf_',
    'wf_../../etc',
    'run_00001\n',
    `run_${'0'.repeat(41)}`,
    7,
    null,
    undefined,
    {},
    ['run_00001'],
  ];
}

for (const [name, story] of Object.entries(STORIES) as [CommandName, Story<CommandName>][]) {
  forEachStore(`${name} refuses ids that are missing, malformed, of another kind or unknown`, async (world) => {
    const command = { do: name, ...(await story(world)) } as CommandOf<CommandName>;
    const ids = [...places(command, (value) => typeof value === 'string' && idShapeOf(value) !== undefined)];
    for (const path of ids) {
      const kind = idShapeOf(at(command, path));
      assert.ok(kind);
      for (const bad of badIds(kind)) {
        if (bad === undefined && MAY_BE_LEFT_OUT.has(path.join('.'))) continue;
        await world.refusesSomehow(() => world.manager.ask(put(command, path, bad) as CommandOf<CommandName>));
      }
      if (MAY_BE_UNKNOWN.has(`${name} ${path.join('.')}`)) continue;
      const stranger = `${String(at(command, path)).split('_')[0]}_99999`;
      await world.refusesSomehow(() => world.manager.ask(put(command, path, stranger) as CommandOf<CommandName>));
    }
    for (const path of [...places(command, (_, key) => key === 'by')]) {
      for (const bad of ['', '  ', 'x'.repeat(NAME_CHARS_MAX + 1), undefined, null, 7]) {
        await world.refuses('invalid', () => world.manager.ask(put(command, path, bad) as CommandOf<CommandName>));
      }
    }
    await world.manager.ask(command);
  });

  forEachStore(`${name} is in the audit log if and only if a person did it`, async (world) => {
    const command = { do: name, ...(await story(world)) } as CommandOf<CommandName>;
    const before = world.rows.audit.values().length;
    await world.manager.ask(command);
    const said = world.rows.audit.values().slice(before);
    assert.equal(said.length > 0, 'by' in command);
    for (const { actor, at: time } of said) assert.deepEqual([actor, time], [PERSON, world.clock.now()]);
  });
}
