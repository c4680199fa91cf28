/** So many, then it looks whether it is warm. */
const WARM_EVENTS = 320;

/** As many lines as are in flight, each with one event at a time: the next when the one before is done. */
export async function oneByOne(count, from, inFlight, each) {
  let next = 0;
  const line = async () => {
    for (let i = next++; i < count; i = next++) await each(`${from}${i}`);
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, line));
}

/** Jobs of a queue, added at once or one by one. Whoever sees one end says so with `over`. */
export function jobs(intake, inFlight, { addAll, add }) {
  const ends = new Map();
  const ended = (id) => new Promise((resolve) => ends.set(id, resolve));
  const atOnce = async (count, from) => {
    const ids = Array.from({ length: count }, (_, i) => `${from}${i}`);
    const all = Promise.all(ids.map(ended));
    await addAll(ids);
    await all;
  };
  const alone = async (id) => {
    const done = ended(id);
    await add(id);
    await done;
  };
  return {
    over: (id) => ends.get(id)?.(),
    drive: intake === 'at once' ? atOnce : (count, from) => oneByOne(count, from, inFlight, alone),
  };
}

/** Warms up for so long, says so, then says how long the events took. */
export async function measure(drive, { warmMs, events }) {
  const warmAt = performance.now();
  for (let i = 0; performance.now() - warmAt < Number(warmMs); i++) await drive(WARM_EVENTS, `warm${i}-`);
  process.stdout.write('warm\n');
  const startedAt = performance.now();
  await drive(Number(events), 'event');
  process.stdout.write(`${performance.now() - startedAt}\n`);
}
