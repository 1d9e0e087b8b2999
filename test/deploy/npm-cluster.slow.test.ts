import { expect } from 'chai';
import { STORY } from '../../server/demo/story.js';
import { textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { TOKEN } from '../support/gateway.js';
import { runProgram } from '../support/program.js';
import { describeWithRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { CLUSTER_PROXY } from './proxies.js';

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describeWithRedis('npm run cluster', () => {
  it('starts what it says, starts again what is killed, and leaves nothing behind', async function () {
    CLUSTER_PROXY.need(this);
    // Processes start in their own time.
    this.timeout(300_000);
    const env = { PORT: String(await freePort()), GATEWAY_TOKEN: TOKEN, GATEWAY_DB: '' };
    const program = runProgram('scripts/cluster.ts', { env });
    await program.prints(/Ctrl\+C/);
    const [, url] = await program.prints(/URL +(http\S+)/);
    const pids = new Map(
      [...program.output.matchAll(/kill -9 (\d+) +# (.+)$/gm)].map(([, pid, name]) => [name!, Number(pid)]),
    );
    expect([...pids.keys()]).to.deep.equal(['Redis', 'gateway 1', 'gateway 2', 'gateway 3']);
    expect([...pids.values()].every(isThere)).to.equal(true);

    const client = connectClient(url!);
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    const run = client.send('main', 'story');
    await run.accepted;
    // Whoever tells the story does not live to end it.
    let words = 0;
    for await (const { type } of client.events('main', { from: 'earliest' }))
      if (type === 'content_delta' && ++words > 10) break;
    for (const name of ['gateway 1', 'gateway 2']) process.kill(pids.get(name)!, 'SIGKILL');
    await program.prints(/gateway 1 is there again/);
    await program.prints(/gateway 2 is there again/);
    const { message, stopReason } = await run.result;
    expect(stopReason).to.equal('end');
    expect(textOf(message!)).to.equal(STORY.map((sentence) => `${sentence} `).join(''));

    const again = [...program.output.matchAll(/there again: kill -9 (\d+)/g)].map(([, pid]) => Number(pid));
    client.disconnect();
    expect(await program.kill('SIGINT')).to.equal(0);
    await until(() => ![...pids.values(), ...again].some(isThere));
  });
});
