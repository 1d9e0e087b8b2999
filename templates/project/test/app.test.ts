import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { pendingOf, type ToolCall, testGateways, textOf, toolCallsOf } from 'agent-session-gateway/testing';
import { app } from '../server/app.js';

const start = testGateways(afterEach);

test('asks before it deletes, also where the page is cut off just then', async () => {
  const client = (await start({ app })).client();
  const cut = client.cutAt('tool_confirmation_required');
  const run = client.send('main', 'delete report.txt');
  await cut;
  await client.session('main').approve(await pendingOf(client, 'main', 'delete'));
  const { message } = await run.result;
  assert.equal(textOf(message), 'report.txt is gone (not really).');
  assert.deepEqual(toolCallsOf(message)[0]?.output, { deleted: 'report.txt' });
});

test('takes no for an answer', async () => {
  const client = (await start({ app })).client();
  const run = client.send('main', 'delete report.txt');
  await client.session('main').deny(await pendingOf(client, 'main', 'delete'));
  assert.equal(textOf((await run.result).message), 'report.txt stays.');
});

test('rolls dice of the sides that it is asked for', async () => {
  const client = (await start({ app })).client();
  const { message } = await client.send('main', 'roll 4').result;
  const [roll] = toolCallsOf(message) as [ToolCall];
  assert.deepEqual(roll.input, { sides: 4 });
  const { result } = roll.output as { result: number };
  assert.ok(result >= 1 && result <= 4);
});
