import type { Input, Sender } from './sender.ts';
import type { World } from './world.ts';

const EFFECTS = ['book', 'tell', 'note'] as const;

/** Every effect of every order, `workflow effect order`, with a word on each time it was done. */
function effectsOf(world: World): Map<string, string[]> {
  const done = new Map<string, string[]>();
  const add = (name: string, how: string): void => void done.set(name, [...(done.get(name) ?? []), how]);
  for (const { workflow, effect, ids, mode, key, arrivedAt, at } of world.service.effects()) {
    for (const id of ids) add(`${workflow} ${effect} ${id}`, `${mode} at ${at}, asked at ${arrivedAt} with ${key}`);
  }
  for (const workflow of world.workflows)
    for (const id of world.notes(workflow)) add(`${workflow} note ${id}`, 'a line');
  return done;
}

/** What was done more than once for an order, or for an order nobody placed. */
export function duplicates(world: World, { inputs }: Sender): string[] {
  const known = new Set(inputs.flatMap(({ workflow, id }) => EFFECTS.map((effect) => `${workflow} ${effect} ${id}`)));
  return [...effectsOf(world)].flatMap(([name, times]) => {
    if (!known.has(name)) return [`${name} was done, and nobody asked for it`];
    return times.length > 1 ? [`${name} was done ${times.length} times: ${times.join('; ')}`] : [];
  });
}

/** Orders that are not through yet. */
export function unfinished(world: World, { inputs }: Sender): Input[] {
  const done = effectsOf(world);
  return inputs.filter(({ workflow, id }) => EFFECTS.some((effect) => !done.has(`${workflow} ${effect} ${id}`)));
}

/** What an engine said it has, and has not. Asked of the file, while nobody runs. */
export function lost(world: World, { acknowledged }: Sender): string[] {
  const { deliveries, events } = world.read((reader) => ({
    deliveries: new Set(reader.table('deliveries').map(({ deliveryId }) => deliveryId)),
    events: new Set(reader.table('events').map(({ topic, messageId }) => `${topic} ${messageId}`)),
  }));
  return [...acknowledged].flatMap(({ kind, id, workflow }) => {
    const isThere = kind === 'feed' || (kind === 'delivery' ? deliveries.has(id) : events.has(`placed ${id}`));
    return isThere ? [] : [`${kind} ${id} to ${workflow} was acknowledged, and is not there`];
  });
}

/** What `pawl doctor` finds in a folder that nobody runs. */
export async function illnesses(world: World): Promise<string[]> {
  const { code, out, err } = await world.type('doctor', '--data', world.data);
  return code === 0 ? [] : [`pawl doctor ended with ${code}: ${out}${err}`];
}

/** Everything that is not as it should be once every order is through and the engine has nothing to do. */
export async function unsettled(world: World, { inputs }: Sender): Promise<string[]> {
  const problems: string[] = [];
  const needs = await world.type('needs');
  if (needs.code !== 0) problems.push(`something waits for a person: ${needs.out}${needs.err}`);
  const { workflows, events, states } = world.read((reader) => ({
    workflows: reader.table('workflows'),
    events: reader.table('events').filter(({ status }) => status !== 'consumed'),
    states: reader.table('handler_states').filter(({ handlerName }) => handlerName === 'tell'),
  }));
  for (const { name, status, holds } of workflows) {
    if (status !== 'active') problems.push(`${name} is ${status}, held by ${holds.join(', ')}`);
  }
  for (const { topic, messageId, status } of events) problems.push(`event ${topic} ${messageId} is ${status}`);
  for (const { id, name } of workflows) {
    const placed = inputs.filter(({ workflow }) => workflow === name).length;
    const told: unknown = JSON.parse(states.find(({ workflowId }) => workflowId === id)?.state ?? '{"told":0}').told;
    if (told !== placed) problems.push(`${name} counts ${told} orders in its state, of ${placed}`);
  }
  return [...problems, ...(await openInputs(world))];
}

/** Inputs that the engine itself does not call done. */
async function openInputs(world: World): Promise<string[]> {
  const problems: string[] = [];
  for (const workflow of world.workflows) {
    const typed = await world.type('inputs', workflow, '--limit', '1000', '--json');
    if (typed.code !== 0) return [`pawl inputs ended with ${typed.code}: ${typed.out}${typed.err}`];
    for (const { title, state, sentence } of typed.json<{ items: readonly InputRow[] }>().items) {
      if (state !== 'done') problems.push(`${title} of ${workflow}: ${sentence}`);
    }
  }
  return problems;
}

interface InputRow {
  readonly title: string;
  readonly state: string;
  readonly sentence: string;
}
