import type { WorkflowId } from '#base';
import { openEngine } from '#execution';
import type { GivenGrant } from '#model';
import { type CompiledScript, manifestOf } from '#script';
import { type RehearsalClock, YOU } from './life.ts';
import type { Samples } from './samples.ts';

export interface FoundOptions {
  readonly folder: string;
  readonly clock: RehearsalClock;
  readonly compiled: CompiledScript;
  readonly samples: Samples;
  readonly withProducers: boolean;
}

/** What its author's code says that it calls; for anything else a rehearsal asks, as the engine will. */
function allowedIn({ calls }: CompiledScript): GivenGrant[] {
  return Object.entries(calls).flatMap(([connection, methods]) =>
    Object.keys(methods).map((method) => ({ connection, method, targets: ['*'], capPerHour: null })),
  );
}

/** What is there before the rehearsal begins: the version, what its handlers remember, and everything that has come in. */
export async function found({ folder, clock, compiled, samples, withProducers }: FoundOptions): Promise<WorkflowId> {
  const { manager, close } = await openEngine({ dataDir: folder, clock });
  try {
    const { workflow } = await manager.createWorkflow(compiled.name, YOU);
    const { code, contentHash, handlers } = compiled;
    // Without schedules: a producer runs once, however long the rehearsal waits for something else.
    const manifest = manifestOf({ ...compiled, schedules: {} });
    const version = { major: 1, minor: 0, code, contentHash, handlers, manifest, by: YOU };
    const { script } = await manager.addScript(workflow, version);
    const producers = withProducers ? handlers.producers.filter(({ webhook }) => !webhook) : [];
    const schedule = Object.fromEntries(producers.map(({ name }) => [name, clock.now()]));
    const grants = allowedIn(compiled);
    if (grants.length > 0) await manager.giveGrants(workflow, grants, YOU);
    await manager.activateScript(workflow, script, { by: YOU, schedule });
    for (const [handler, state] of Object.entries(samples.states)) {
      if ([...handlers.producers, ...handlers.consumers].some(({ name }) => name === handler))
        await manager.setHandlerState(workflow, handler, JSON.stringify(state), YOU);
    }
    const publishes = samples.events.map(({ payload, ...event }) => ({ ...event, payload: JSON.stringify(payload) }));
    if (publishes.length > 0) await manager.publishEvents(workflow, publishes, YOU);
    for (const [position, { webhook: hook, id, headers, body }] of samples.deliveries.entries()) {
      await manager.acceptDelivery(workflow, {
        hook,
        deliveryId: id ?? `delivery-${position + 1}`,
        headers: JSON.stringify(headers),
        body: JSON.stringify(body),
      });
    }
    return workflow;
  } finally {
    await close();
  }
}
