import assert from 'node:assert/strict';
import test from 'node:test';
import { COMMAND_NAMES, commandsIn } from './command-log.ts';
import { exploreAll } from './explorer-pool.ts';
import { extentOf, scenariosOf } from './scenarios.ts';
import { COMMANDS_WITH_REASON, CrashTable, EMPTY_CELLS_WITH_REASON } from './table.ts';

test('wherever the process dies, and dies again, the promise is kept', async (t) => {
  const extent = extentOf(process.env);
  const scenarios = scenariosOf(extent);
  const answers = exploreAll(scenarios.length, extent);
  const table = new CrashTable();
  let total = 0;
  for (const [position, { name }] of scenarios.entries()) {
    await t.test(name, async (s) => {
      const answer = await answers[position];
      if (!answer || 'error' in answer) throw new Error(answer?.error);
      const { histories, deaths } = answer.explored;
      table.add(1, deaths[0]);
      table.add(2, deaths[1]);
      total += histories;
      s.diagnostic(`${histories} histories, ${deaths.flat().length} deaths, ${(answer.ms / 1_000).toFixed(1)} s`);
    });
  }
  t.diagnostic(`${total} histories\n${table}`);
  await t.test('every cell of the table is filled, or says why it cannot be', () => {
    assert.deepEqual(table.surprises(), []);
    for (const { command } of EMPTY_CELLS_WITH_REASON)
      assert(
        commandsIn(command).every((name) => table.commands.has(name)),
        `${command} has a reason and no row`,
      );
  });
  await t.test('every command of the engine is in the table, or says why it cannot be', () => {
    const missing = COMMAND_NAMES.filter((name) => !table.commands.has(name)).sort();
    assert.deepEqual(missing, Object.keys(COMMANDS_WITH_REASON).sort());
  });
});
