import fc from 'fast-check';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { connectClient } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { newDatabase } from '../support/durable.js';
import { cases } from '../support/fuzz.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { type Gateways, live, stepsOf } from './control-life.js';
import { oneGateway } from './one-gateway.js';

const survives = async (gateways: Gateways, runs: number, length: number): Promise<void> => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(stepsOf(length, true), (steps) => live(gateways, `s${++number}`, steps)),
    { numRuns: cases(runs), endOnFailure: true },
  );
};

describeDaily('control through ends of the gateway', 2, () => {
  for (const [name, config] of [
    ['memory', () => ({})],
    ['SQLite', () => ({ store: sqliteStore({ path: newDatabase() }) })],
  ] as const)
    for (const resumable of [false, true])
      it(`leaves nothing of the agent behind it: ${name}${resumable ? ', resumable' : ''}`, async () => {
        await survives(await oneGateway(config(), resumable), 3, 8);
      });
});

/** Gateways as processes of their own, on a store that they share. */
async function processes(place: string): Promise<Gateways> {
  const start = async () => ({
    gateway: await GatewayProcess.start('test/people/program.ts', place),
    ending: Promise.resolve(),
  });
  const nodes = [await start(), await start()];
  const clients = new Map<string, ReturnType<typeof connectClient>>();
  const clientOf = (token: string, at: number) => {
    const name = `${token} ${at}`;
    const client = clients.get(name) ?? connectClient(nodes[at]!.gateway.url, { token });
    clients.set(name, client);
    return client;
  };
  return {
    client: clientOf,
    guest: clientOf,
    end(how, at) {
      const node = nodes[at]!;
      node.ending = node.ending.then(() => node.gateway.restart(how === 'kill' ? 'SIGKILL' : 'SIGTERM'));
      return node.ending;
    },
  };
}

for (const { name, describe: describeShared, start } of SHARED_STORES)
  describeShared(`control through kills and hand-overs of two gateways on ${name}`, () => {
    it('leaves nothing of the agent behind it, and each message once', async function () {
      // Each end is a start too, and processes start in their own time.
      this.timeout(300_000);
      await survives(await processes(await start()), 2, 8);
    });
  });
