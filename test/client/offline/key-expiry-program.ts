// Sends one message under one key at once, within a day, and after it, by a clock of its own, and prints what became of each.
import { scripted, testGateway } from '../../../testing/index.js';

const HOUR = 3_600_000;

const gateway = await testGateway({
  app: scripted(['heard']),
  clock: true,
  limits: { retention: { ageMs: HOUR } },
});
const client = gateway.client();
const send = () => client.send('main', { id: 'm1', content: 'hello' }, { idempotencyKey: 'k1' });
const { runId } = await send().accepted;
await client.session('main').run(runId).result;
await gateway.clock.advance(23 * HOUR);
const isSame = (await send().accepted).runId === runId;
await gateway.clock.advance(3 * HOUR);
const code = await send().accepted.then(
  () => null,
  (cause: { readonly code: string }) => cause.code,
);
const said = (await client.session('main').history()).messages.filter(({ role }) => role === 'user').length;
console.log(JSON.stringify({ isSame, code, said }));
process.exit(0);
