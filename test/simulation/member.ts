import { type App, FleetConfig, runMember } from '#app';
import { type FleetDatabase, joinFleet } from '#execution';
import type { LaterReader, Reader, Store } from '#store';
import type { Opened } from './disk.ts';
import type { Role, WorldSpec } from './history.ts';
import type { Life } from './life.ts';
import { never } from './never.ts';
import { NO_PAST } from './no-past.ts';
import type { Stage } from './stage.ts';
import { onTheWay } from './way.ts';

/** Longer than a run, shorter than anybody's patience. */
export const SESSION_MS_MAX = 25_000;
/** Longer than a lease. */
const LATE_MS = 60_000;

/** One of several processes at the same database, as `src/app` puts it together. */
export async function openMember(stage: Stage, life: Life, role: Role, opened: Opened, store: Store): Promise<App> {
  const name = `process ${life.seat}`;
  const onLost = () => life.endBroken();
  const member = await joinFleet(
    { url: '', role, name, pool: 'default', ids: stage.ids, onFatal: onLost },
    databaseFor(stage, life, opened.reader, store),
  );
  life.clock = member.clock;
  const config = new FleetConfig(settingsOf(stage.history.world));
  // Nobody cordons or drains a process here.
  const onDrain = () => undefined;
  return runMember(life.partsOf(member.engine), { role, name, member, config, onLost, onDrain });
}

function settingsOf({ fleet }: WorldSpec) {
  return { timeoutMs: fleet?.hasTimeout ? { a: SESSION_MS_MAX, b: SESSION_MS_MAX } : {} };
}

function databaseFor(stage: Stage, life: Life, reader: Reader, store: Store): FleetDatabase {
  return {
    openLine: async (hearing) => stage.bus.join(life, hearing),
    async openStore(callFor) {
      // Said with the commit itself: whoever dies right after it has said it.
      life.onCommitted = (writes) => {
        const call = callFor(writes);
        if (call !== undefined) stage.bus.call(call);
      };
      return store;
    },
    openReader: async () => readFromAfar(stage, life, reader),
    openHistory: async () => NO_PAST,
  };
}

type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>;
type HandOffs = ReturnType<Reader['handOffs']>;

/** What was true when it was asked, told a turn later: others have written in between. */
function readFromAfar(stage: Stage, life: Life, reader: Reader): LaterReader {
  const methods = reader as unknown as Methods;
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(reader)).filter((name) => name !== 'constructor');
  const read = async (name: string, args: unknown[]): Promise<unknown> => {
    if (life.isDead) return never();
    await onTheWay(stage, life);
    const answer = methods[name]?.(...args);
    const lagMs = stage.faults.lagsMs.shift();
    if (lagMs !== undefined) {
      stage.struck('lag');
      await stage.loop.wait(lagMs);
    }
    return name === 'handOffs' ? seenLater(stage, answer as HandOffs) : stage.loop.answer(answer);
  };
  return Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => read(name, args)])) as never;
}

async function seenLater(stage: Stage, now: HandOffs): Promise<HandOffs> {
  const view = stage.faults.handOffs.shift();
  if (view) stage.struck(`hand-off ${view}`);
  const all = stage.bus.handedOff(now);
  switch (view) {
    case undefined:
      return stage.loop.answer(now);
    case 'again':
      return stage.loop.answer(all.toReversed());
    case 'not yet':
      return stage.loop.answer([]);
    case 'late':
      await stage.loop.wait(LATE_MS);
      return now;
  }
}
