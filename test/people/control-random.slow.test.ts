import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { buildProgram } from '../support/built-program.js';
import { connectClient } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { newDatabase } from '../support/durable.js';
import { freePort } from '../support/free-port.js';
import { cases } from '../support/fuzz.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { type End, type Gateways, live, stepsOf } from './control-life.js';
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
  const program = await buildProgram('test/people/program.ts');
  const nodes: { port: number; child: ChildProcess; ending: Promise<void> }[] = [];
  const start = async (port: number): Promise<ChildProcess> => {
    const child = fork(program, [place, String(port)], { cwd: ROOT, silent: true });
    closeLater(child, (it) => it.kill('SIGKILL'));
    await once(child, 'message');
    return child;
  };
  for (let i = 0; i < 2; i++) {
    const port = await freePort();
    nodes.push({ port, child: await start(port), ending: Promise.resolve() });
  }
  const clients = new Map<string, ReturnType<typeof connectClient>>();
  const end = async (how: End, node: (typeof nodes)[number]): Promise<void> => {
    const over = once(node.child, 'exit');
    node.child.kill(how === 'kill' ? 'SIGKILL' : 'SIGTERM');
    await over;
    node.child = await start(node.port);
  };
  const clientOf = (token: string, at: number) => {
    const name = `${token} ${at}`;
    const client = clients.get(name) ?? connectClient(`http://127.0.0.1:${nodes[at]!.port}`, { token });
    clients.set(name, client);
    return client;
  };
  return {
    client: clientOf,
    guest: clientOf,
    end(how, at) {
      const node = nodes[at]!;
      node.ending = node.ending.then(() => end(how, node));
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
