import { activate } from '#app';
import { startEngine } from '#execution';
import { readLater } from '#store';
import type { Disk } from './disk.ts';
import type { WorldSpec } from './history.ts';
import { idsOfLife } from './life.ts';
import { Loop } from './loop.ts';
import { MemoryDisk } from './memory-disk.ts';
import { ADA } from './person.ts';
import { looksForOrders, versionOf } from './shapes.ts';
import { SqliteDisk } from './sqlite-disk.ts';

/** What is there before a history begins: workflows with a version each, and the events that wait in them. */
async function found(disk: Disk, world: WorldSpec): Promise<void> {
  const clock = new Loop();
  const { store, reader: rows } = disk.open();
  const reader = readLater(rows);
  const history = { close: async () => undefined } as never;
  const engine = await startEngine({ store, reader, history, backUp: () => undefined }, { clock, ids: idsOfLife(0) });
  for (const name of ['a', 'b'].slice(0, world.workflows)) {
    const { workflow } = await engine.manager.createWorkflow(name, ADA);
    const { script } = await engine.manager.addScript(workflow, { ...versionOf(world, name, 1, false), by: ADA });
    const connections = { targetPattern: (_connection: string, _method: string, pattern: string) => pattern };
    await activate({ engine, clock, connections } as never, workflow, script, { by: ADA });
    const orders = Array.from({ length: looksForOrders(world.shape) ? 0 : world.orders }, (_, n) => `${name}${n + 1}`);
    const publishes = orders.map((messageId) => ({ topic: 'order', messageId, payload: '{}' }));
    if (publishes.length > 0) await engine.manager.publishEvents(workflow, publishes, ADA);
  }
  await engine.close();
}

const inMemory = new Map<string, Promise<MemoryDisk>>();
const onSqlite = new Map<string, Promise<SqliteDisk>>();

/** Each world is founded once; every history begins with a copy. */
export async function foundedInMemory(world: WorldSpec): Promise<MemoryDisk> {
  return new MemoryDisk(await founded(inMemory, world, () => new MemoryDisk()));
}

export async function foundedOnSqlite(world: WorldSpec): Promise<SqliteDisk> {
  return new SqliteDisk(await founded(onSqlite, world, () => new SqliteDisk(withTables())));
}

let empty: SqliteDisk | undefined;

/** A database without rows: making the tables takes longer than all that is founded in them. */
function withTables(): SqliteDisk {
  if (empty) return empty;
  empty = new SqliteDisk();
  empty.makeTables();
  return empty;
}

function founded<D extends Disk>(known: Map<string, Promise<D>>, world: WorldSpec, make: () => D): Promise<D> {
  const key = JSON.stringify(world);
  const disk = known.get(key) ?? foundAnew(world, make());
  known.set(key, disk);
  return disk;
}

async function foundAnew<D extends Disk>(world: WorldSpec, disk: D): Promise<D> {
  await found(disk, world);
  return disk;
}
