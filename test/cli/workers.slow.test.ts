import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type Client, createClient } from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { TOKEN } from '../support/gateway.js';
import type { Program } from '../support/program.js';
import { RedisServer } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { until } from '../support/until.js';
import { CLI, runCliIn, urlOf } from './run-cli.js';

/** Node 20 has no WebSocket of its own. */
const SOCKET = { transport: 'websocket', WebSocket } as const;
const PIECES = 40;
/** Says numbers, one after another; goes on with the next one where its process ended. */
const APP = `
import { setTimeout as delay } from 'node:timers/promises';
const app = {
  async *run(turn) {
    if (turn.text === 'short') return yield 'done';
    const said = (turn.resumed?.content ?? []).map((part) => part.text ?? '').join('');
    for (let n = said.split(' ').length - 1; n < ${PIECES}; n++) {
      await delay(25, undefined, { signal: turn.signal });
      yield n + ' ';
    }
  },
};
export const config = {
  apps: { steady: { ...app, resumable: true }, once: app },
  defaultApp: 'steady',
  socketPath: process.env.SOCKET_PATH,
};
`;
const WHOLE = Array.from({ length: PIECES }, (_, n) => `${n} `).join('');

describeDaily('agent-session-gateway start --workers', 3, () => {
  let folder: string;
  let socketPath: string;
  let redis: RedisServer;

  beforeEach(async () => {
    redis = closeLater(await RedisServer.start(), (it) => it.stop());
    folder = socketDirectory();
    socketPath = join(folder, 'clients');
    writeFileSync(join(folder, 'server.mjs'), APP);
  });

  const start = (env: Readonly<Record<string, string>> = {}, ...args: readonly string[]): Program =>
    runCliIn(folder, ['start', 'server.mjs', '--port', '0', ...args], {
      ...{ GATEWAY_TOKEN: TOKEN, GATEWAY_DB: redis.url, GATEWAY_WORKERS: '2', SOCKET_PATH: socketPath },
      ...env,
    });
  const connected = (client: Client): Client => closeLater(client, (it) => it.disconnect());
  /** Which gateway answers: each time over another connection. */
  const gatewayAt = async (url: string): Promise<string> => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const [response] = await once(get(`${url}/status`, { agent: false, headers }), 'response');
    return ((await json(response)) as { readonly gatewayId: string }).gatewayId;
  };
  const children = ({ child }: Program): number[] =>
    execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);

  /** Follows a session until a run has ended. */
  async function follow(client: Client, ends = 1): Promise<readonly GatewayEvent[]> {
    const seen: GatewayEvent[] = [];
    for await (const event of client.events('main', { from: 'earliest' })) {
      seen.push(event);
      if (seen.filter(({ type }) => type === 'message_end').length === ends) break;
    }
    return seen;
  }

  it('serve one session to viewers at each of them, over SSE, WebSockets and the Unix socket', async () => {
    const program = start();
    const url = await urlOf(program);
    const ids = new Set<string>();
    for (let i = 0; i < 8; i++) ids.add(await gatewayAt(url));
    expect(ids.size, 'both answer').to.equal(2);
    const local = () =>
      connected(createClient({ transport: createUnixSocketClientTransport({ socketPath, token: TOKEN }) }));
    const viewers = [
      connectClient(url),
      connectClient(url),
      connectClient(url, SOCKET),
      connectClient(url, SOCKET),
      local(),
      local(),
    ];
    const { runId } = await connectClient(url).send('main', 'go').accepted;
    const seen = await Promise.all(viewers.map((viewer) => follow(viewer)));
    const [first, ...others] = seen.map((events) => events.map(({ cursor, type }) => `${cursor} ${type}`));
    for (const other of others) expect(other).to.deep.equal(first);
    const end = await viewers[0]!.session('main').run(runId).result;
    expect([end.stopReason, textOf(end.message)]).to.deep.equal(['end', WHOLE]);
    expect(await program.kill('SIGTERM')).to.equal(0);
    expect(existsSync(socketPath)).to.equal(false);
  });

  it('lose nothing by kill -9 of the one that runs an answer, which another one goes on with', async () => {
    const program = start();
    const url = await urlOf(program);
    const viewers = [connectClient(url), connectClient(url, SOCKET)];
    const run = connectClient(url).send('main', 'go');
    const seen = Promise.all(viewers.map((viewer) => follow(viewer)));
    await run.accepted;
    const workers = children(program);
    expect(workers).to.have.length(2);
    // Either of them may have it: the first is back before the second goes.
    process.kill(workers[0]!, 'SIGKILL');
    await program.prints(/"message":"a worker has ended, and is started again"/);
    await until(() => children(program).length === 2);
    for (const events of await seen) {
      expect(events.map(({ type }) => type)).to.not.include('gap');
      expect(events.map(({ cursor }) => Number(cursor?.split('.').at(-1)))).to.deep.equal(
        events.map((_, n) => n + 1),
      );
    }
    const { message, stopReason } = await run.result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', WHOLE]);
    const { messages } = await viewers[0]!.session('main').state();
    expect(messages).to.have.length(2);
  });

  it('finish what is under way when they are told to end, and leave it to the next start', async () => {
    const program = start();
    const url = await urlOf(program);
    const run = connectClient(url).send('once:main', 'go');
    await run.accepted;
    expect(await program.kill('SIGTERM')).to.equal(0);
    const next = start();
    const { messages } = await connectClient(await urlOf(next))
      .session('once:main')
      .state();
    expect(textOf(messages.at(-1)!)).to.equal(WHOLE);
  });

  it('say why they cannot start, and end', async () => {
    writeFileSync(
      join(folder, 'own.mjs'),
      `
      import { memoryStore } from ${JSON.stringify(`${CLI[1]!.replace('cli/main.js', 'index.js')}`)};
      export const config = { app: { run() {} }, store: memoryStore() };`,
    );
    const program = runCliIn(folder, ['start', 'own.mjs', '--workers', '2', '--port', '0'], {
      ...{ GATEWAY_TOKEN: TOKEN, GATEWAY_DB: redis.url },
    });
    expect(await program.exited).to.equal(2);
    expect(program.output).to.contain('has a `store` that one process alone can use');
    for (const place of ['kept.db', 'memory']) {
      const lone = start({ GATEWAY_DB: place });
      expect(await lone.exited, place).to.equal(2);
      expect(lone.output).to.contain(`Workers cannot share ${place}`);
    }
    const wrong = runCliIn(folder, ['start', 'server.mjs', '--workers', 'many'], { GATEWAY_TOKEN: TOKEN });
    expect(await wrong.exited).to.equal(2);
  });

  it('answer for all of them when one is asked for metrics, in a file that exports a gateway', async () => {
    const dist = CLI[1]!.replace('cli/main.js', '');
    writeFileSync(
      join(folder, 'metrics.mjs'),
      `import { createGateway } from '${dist}index.js';
      import { metricsPlugin } from '${dist}plugins/metrics/index.js';
      import { redisStore } from '${dist}stores/redis/index.js';
      export const gateway = createGateway({
        app: { async *run() { yield 'done'; } }, port: 0, auth: { type: 'token', token: '${TOKEN}' },
        store: redisStore({ url: '${redis.url}' }),
      });
      gateway.use(metricsPlugin({ token: '${TOKEN}' }));`,
    );
    const program = runCliIn(folder, ['start', 'metrics.mjs', '--workers', '2', '--db', redis.url]);
    const url = await urlOf(program);
    for (let n = 0; n < 4; n++) await connectClient(url).send(`s${n}`, 'short').result;
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (let n = 0; n < 4; n++) {
      const [response] = await once(get(`${url}/metrics`, { agent: false, headers }), 'response');
      expect(await text(response)).to.match(/^agent_gateway_runs_ended_total\{[^}]*\} 4$/m);
    }
  });

  it('let commands work on their data', async () => {
    const program = start();
    const url = await urlOf(program);
    await connectClient(url).send('main', 'short').result;
    const exported = runCliIn(folder, ['export', 'steady:main', '--scope', '[null,"token"]'], {
      GATEWAY_DB: redis.url,
    });
    expect(await exported.exited, exported.output).to.equal(0);
    expect(exported.output).to.contain('short');
  });
});
