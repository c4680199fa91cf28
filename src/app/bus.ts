import type { MessageId, WorkflowId } from '#base';
import type { Engine } from '#execution';
import { WorkflowNames } from '#worker';
import type { FleetConfig } from './fleet-config.ts';
import type { AppParts } from './start-app.ts';

export type Bus = InstanceType<typeof import('#bus')['NatsBus']>;

/** Messages that are read at once to find those that nobody has sent. */
const PAGE = 1_000;

/** The second way for messages, where the config names one. It connects by itself, now or later; nothing waits for it. */
export async function openBus(
  { engine, secret, onError }: Pick<AppParts, 'engine' | 'secret' | 'onError'>,
  name: string,
  config: FleetConfig,
  onNews: ((text: string) => void) | undefined,
): Promise<Bus | undefined> {
  const { nats } = config;
  if (nats === undefined) return undefined;
  // Loaded here: whoever does not use it pays nothing.
  const { NatsBus } = await import('#bus');
  const token = nats.token === undefined ? undefined : await secret(nats.token);
  const names = new WorkflowNames(engine);
  const poolOf = async (workflow: WorkflowId): Promise<string> => config.poolOf((await names.of(workflow)) ?? '');
  const bus = new NatsBus({ ...nats, token, name, poolOf, onError, onNews });
  bus.start();
  return bus;
}

/** Calls that something may be due are heard only while the bus is away: else every worker would look for what one is told of. */
export function toldBy(bus: Bus | undefined, engine: Engine): Engine {
  if (bus === undefined) return engine;
  return {
    ...engine,
    listenDue: (listener) =>
      engine.listenDue((due) => {
        if (!bus.isUp) listener(due);
      }),
  };
}

/** Before messages are deleted, those that nobody has sent are. */
export function relayBy(
  bus: Bus | undefined,
  { reader }: Engine,
): ((messages: readonly MessageId[]) => Promise<void>) | undefined {
  if (bus === undefined) return undefined;
  return async (messages) => {
    const missing = new Set(messages.filter((id) => !bus.hasArrived(id)));
    if (missing.size === 0 || !bus.isUp) return;
    await bus.relay((await reader.messageRows(PAGE)).filter(({ id }) => missing.has(id)));
  };
}
