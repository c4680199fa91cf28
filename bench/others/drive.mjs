/** As many lines as are in flight, each with one event at a time: the next when the one before is done. */
export async function oneByOne(count, from, inFlight, each) {
  let next = 0;
  const line = async () => {
    for (let i = next++; i < count; i = next++) await each(`${from}${i}`);
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, line));
}

/** Warms up, then says how long the events took, and ends. */
export async function measure(drive, { warm, events }) {
  await drive(Number(warm), 'warm');
  const startedAt = performance.now();
  await drive(Number(events), 'event');
  process.stdout.write(`${performance.now() - startedAt}\n`);
}
