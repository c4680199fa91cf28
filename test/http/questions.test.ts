import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api, type Json } from './api.ts';
import { GIVEN } from './scripts.ts';

/** An engine whose first call did its work and lost the answer. */
async function asking(t: Parameters<typeof Api.open>[0], ...ids: string[]): Promise<{ api: Api; output: string }> {
  const api = await Api.open(t);
  api.stage.outside.behave({ after: 'drop' });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1', ...ids);
  await api.stage.until('the outcome is unknown', () => api.stage.workflow().holds.includes('unknown'));
  return { api, output: api.stage.mutation().id };
}

const commands = ({ next }: Json): string[] => next.flatMap(({ argv }: { argv?: string[] }) => argv?.join(' ') ?? []);

test('an unknown outcome is a question in plain words, with the commands that answer it', async (t) => {
  const { api, output } = await asking(t, 'o2', 'o3');
  const status = await api.status();
  assert.match(
    status.sentence,
    /^waiting for you to say whether one POST to shop \(Book o1\) happened \(since \d+ s, 2 events wait behind it\)$/,
  );
  assert.deepEqual(
    [status.status, status.kind, status.blocks, status.waiting.pending],
    ['paused', 'unknown', '2 events', 2],
  );
  assert.deepEqual(commands(status), [
    `pawl resolve ${output} --happened`,
    `pawl resolve ${output} --did-not-happen`,
    `pawl resolve ${output} --skip`,
    `pawl set-aside ${output}`,
    `pawl explain ${output}`,
  ]);
  const [need, ...others] = await api.needs();
  assert.deepEqual([need.kind, need.id, need.name, others.length], ['unknown', output, 'orders', 0]);
  assert.ok(need.evidence.some((line: string) => /the call: POST http/.test(line)));
  await api.refused(api.post('/api/workflows/orders/resume'), 409, 'unknown-outcome');
  await api.refused(api.post('/api/workflows/orders/trigger'), 409, 'held');
});

test('it happened: the result is given, checked, and next goes on with it', async (t) => {
  const { api, output } = await asking(t);
  const resolve = (body: object) => api.post(`/api/outputs/${output}/resolve`, body);
  await api.refused(resolve({}), 400, 'invalid');
  await api.refused(resolve({ how: 'perhaps' }), 400, 'invalid');
  const wrong = await api.refused(resolve({ how: 'happened', result: { nonsense: 1 } }), 400, 'invalid-result');
  assert.deepEqual(wrong.next, [
    {
      label:
        'give a result of this shape: {"status"?: integer, "headers"?: {NAME: text}, "body"?: any JSON, "bodyEncoding"?: "base64", "bodyOmitted"?: text} or null',
    },
  ]);
  await api.refused(resolve({ how: 'skip', result: {} }), 400, 'invalid');
  await api.refused(resolve({ how: 'check_again' }), 409, 'wrong-state');
  const answer = await api.ok(resolve({ how: 'happened', result: { body: { ref: 'b7' } } }));
  assert.deepEqual([answer.output, answer.status, answer.words], [output, 'applied', 'done, says ada']);
  await api.stage.quiet();
  assert.deepEqual(
    api.stage.outside.effects.map(({ path, body }) => [path, body]),
    [
      ['/bookings', { id: 'o1' }],
      ['/told', ['b7']],
    ],
  );
  await api.refused(resolve({ how: 'did_not_happen' }), 409, 'already-resolved');
  const { story } = await api.ok(api.get(`/api/explain/${output}`));
  assert.ok(
    story.some((line: string) => /book stopped: nobody knows whether its call happened/.test(line)),
    story.join('\n'),
  );
  assert.ok(story.some((line: string) => /went on where run_\w+ had stopped/.test(line)));
  assert.deepEqual(await api.needs(), []);
});

test('it happened, and nobody knows what was answered: the result is null where the method allows it', async (t) => {
  const { api, output } = await asking(t);
  await api.ok(api.post(`/api/outputs/${output}/resolve`, { how: 'happened' }));
  await api.stage.quiet();
  assert.equal((await api.ok(api.get(`/api/show/${output}`))).row.result, null);
  assert.deepEqual(api.stage.outside.effects.at(-1)?.body, ['none']);
});

test('it did not happen: it is sent again under the same key', async (t) => {
  const { api, output } = await asking(t);
  const answer = await api.ok(api.post(`/api/outputs/${output}/resolve`, { how: 'did_not_happen' }));
  assert.equal(answer.words, 'not done, says ada');
  await api.stage.quiet();
  const bookings = api.stage.outside.effects.filter(({ path }) => path === '/bookings');
  assert.equal(bookings.length, 2, 'the person was wrong, and it was asked for in their name');
  assert.equal(new Set(bookings.map(({ key }) => key)).size, 1);
});

test('a question that is set aside stays open, and the workflow goes on', async (t) => {
  const { api, output } = await asking(t, 'o2');
  await api.ok(api.post(`/api/outputs/${output}/set-aside`));
  await api.refused(api.post(`/api/outputs/${output}/set-aside`), 409, 'wrong-state');
  await api.stage.until('the other order is booked', () => api.stage.events('placed').includes('o2 consumed'));
  await api.stage.quiet();
  const status = await api.status();
  assert.match(status.sentence, /^idle.*; also set aside, but still waiting for you to say whether/);
  assert.ok(
    status.next.some(({ argv }: { argv?: string[] }) => argv?.includes('--happened')),
    'what to type is there too',
  );
  const [need] = await api.needs();
  assert.equal(need.id, output);
  assert.match(need.sentence, /^set aside, but still waiting for you to say whether/);
  const skipped = await api.ok(api.post(`/api/outputs/${output}/resolve`, { how: 'skip' }));
  assert.equal(skipped.words, 'skipped by ada');
  await api.stage.quiet();
  assert.deepEqual(await api.needs(), []);
  assert.deepEqual(api.stage.events('placed'), ['o1 skipped', 'o2 consumed']);
});

test('outputs that are not there, or not of that kind, are refused', async (t) => {
  const api = await Api.open(t);
  for (const [verb, body] of [
    ['resolve', { how: 'happened' }],
    ['set-aside', {}],
    ['approve', {}],
    ['reject', { how: 'skip' }],
  ] as const) {
    await api.refused(api.post(`/api/outputs/mut_404/${verb}`, body), 404, 'not-found');
    const wrong = api.post(`/api/outputs/run_404/${verb}`, body);
    // What is approved may be a workflow too, by its name.
    if (verb === 'approve') await api.refused(wrong, 404, 'not-found');
    else await api.refused(wrong, 400, 'malformed-id');
  }
  await api.refused(api.post('/api/runs/run_404/finish'), 404, 'not-found');
  await api.refused(api.post('/api/runs/evt_404/finish'), 400, 'malformed-id');
});

test('a call that waits for approval is shown whole, and sent or not as a person says', async (t) => {
  const api = await Api.open(t, { approval: { post: 'always' } });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1', 'o2', 'o3');
  const waiting = async (): Promise<Json> => {
    await api.stage.until('it asks', () => api.stage.workflow().holds.includes('approval'));
    return (await api.needs())[0];
  };
  const first = await waiting();
  assert.match(first.sentence, /^waiting for your approval of one POST to shop: Book o1$/);
  assert.match(first.evidence.join('\n'), /POST http[\s\S]*"id": ?"o1"/);
  assert.deepEqual(commands(first), [
    `pawl approve ${first.id}`,
    `pawl reject ${first.id} --skip`,
    `pawl reject ${first.id} --park`,
  ]);
  assert.equal(api.stage.outside.effects.length, 0);
  await api.refused(api.post('/api/workflows/orders/resume'), 409, 'held');
  await api.ok(api.post(`/api/outputs/${first.id}/approve`));
  await api.stage.until('it is sent', () => api.stage.outside.effects.length > 0);
  await api.stage.until('the next one asks', () => api.stage.mutation().id !== first.id);
  const second = await waiting();
  await api.refused(api.post(`/api/outputs/${second.id}/reject`, {}), 400, 'invalid');
  await api.ok(api.post(`/api/outputs/${second.id}/reject`, { how: 'park' }));
  await api.stage.until('the third one asks', () => api.stage.mutation().id !== second.id);
  const third = await waiting();
  const rejected = await api.ok(api.post(`/api/outputs/${third.id}/reject`, { how: 'skip' }));
  assert.match(rejected.words, /by ada/);
  await api.stage.until('it is skipped', () => api.stage.events('placed').includes('o3 skipped'));
  assert.deepEqual(api.stage.events('placed'), ['o1 consumed', 'o2 parked', 'o3 skipped']);
});
