import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import { createGateway, memoryStore } from '../../server/index.js';
import { becomes } from '../gateway/readiness-answer.js';
import { echo } from '../support/apps.js';
import { describeDaily } from '../support/daily.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { tempDir } from '../support/temp-dir.js';
import { runCliIn } from './run-cli.js';

interface Finding {
  readonly status: string;
  readonly about: string;
  readonly text: string;
  readonly fix?: string;
}

interface Examined {
  readonly code: number | string;
  readonly findings: readonly Finding[];
  /** The findings that are not well, by what they are about. */
  readonly ill: Readonly<Record<string, Finding>>;
}

async function doctor(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Examined> {
  // Tests wait long for what comes, on a machine that has others to serve, and not for what never does.
  const patience = args.includes('--timeout') ? [] : ['--timeout', '60'];
  const program = runCliIn(ROOT, ['doctor', '--json', ...patience, ...args], env);
  const code = await program.exited;
  const findings: Finding[] = program.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  // What this Node is able to do differs between the machines of this test.
  const ill = findings.filter(({ status, about }) => status !== 'ok' && about !== 'Node');
  for (const { fix } of ill) expect(fix).to.be.a('string').and.not.equal('');
  return { code, findings, ill: Object.fromEntries(ill.map((finding) => [finding.about, finding])) };
}

/**
 * A proxy for plain requests, which knows no upgrades and, if it is told to, keeps each answer until it is complete, or has a stream of events
 * say something else.
 */
function plainProxy(
  target: string,
  {
    host,
    buffers,
    answersOptions,
    says,
  }: { host?: string; buffers?: true; answersOptions?: true; says?: { said: string; ends: boolean } },
): Promise<string> {
  return listenOnLoopback((incoming, outgoing) => {
    const { url, method, headers } = incoming;
    if (answersOptions && method === 'OPTIONS') return void outgoing.writeHead(204).end();
    if (says && url!.startsWith('/events')) {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(says.said);
      if (says.ends) outgoing.end();
      return;
    }
    const { connection: _, upgrade: __, ...passed } = headers;
    const named = { ...passed, ...(host && { host }) };
    const asked = request(`${target}${url}`, { method: method!, headers: named }, (response) => {
      if (!buffers) return void response.pipe(outgoing.writeHead(response.statusCode!, response.headers));
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        outgoing.writeHead(response.statusCode!, response.headers).end(Buffer.concat(chunks)),
      );
    });
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  });
}

const start = (config: object = {}) => startGateway({ app: echo, ...config });

describeDaily('agent-session-gateway doctor', 3, () => {
  it('finds nothing where nothing is wrong, and says so in words', async () => {
    const { url } = await start({ origins: ['https://app.example'] });
    const args = ['--url', `${url}/`, '--token', TOKEN, '--origin', 'https://app.example'];
    const { code, findings, ill } = await doctor(args);
    expect(ill).to.deep.equal({});
    expect(code).to.equal(0);
    expect(findings.map(({ about }) => about)).to.deep.equal([
      'Node',
      'address',
      'clock',
      'version',
      'token',
      'readiness',
      'events',
      'WebSocket',
      'CORS',
    ]);
    const program = runCliIn(ROOT, ['doctor', ...args]);
    expect(await program.exited).to.equal(0);
    expect(program.output)
      .to.match(/^ok {6}token: you are the user "token"$/m)
      .and.not.contain(TOKEN);
  });

  it('finds a wrong token, none, one in quotes, and one that has expired', async () => {
    const { url } = await start();
    const at = async (...args: string[]) => {
      const { code, ill } = await doctor(['--url', url, ...args]);
      expect(code).to.equal(1);
      expect(Object.keys(ill)).to.deep.equal(['token']);
      return ill.token!;
    };
    expect((await at('--token', 'wrong')).text).to.equal('the token is refused');
    const none = await at();
    expect(none.text).to.contain('who you are');
    expect(none.fix).to.contain('AGENT_SESSION_GATEWAY_TOKEN');
    expect((await at('--token', `"${TOKEN}"`)).text).to.contain('quotes');

    const secret = 'a-secret-of-more-than-32-bytes-for-tests';
    const jwt = await start({ auth: { type: 'jwt', secret } });
    const sign = (exp: number, key = secret) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject('ann')
        .setExpirationTime(exp)
        .sign(Buffer.from(key));
    const now = Math.floor(Date.now() / 1000);
    const expired = await doctor(['--url', jwt.url, '--token', await sign(now - 600)]);
    expect(expired.ill.token!.text).to.match(/^the token expired 6\d\d s ago/);
    const foreign = await doctor(['--url', jwt.url, '--token', await sign(now + 600, `${secret}!`)]);
    expect(foreign.ill.token!.text).to.contain('sub "ann"');
    const good = await doctor(['--url', jwt.url, '--token', await sign(now + 600)]);
    expect(good.code).to.equal(0);
  });

  it('finds a wrong mount, and where the gateway is', async () => {
    const gateway = closeLater(
      createGateway({ app: echo, embedded: true, auth: { type: 'token', token: TOKEN } }),
      (it) => it.close(),
    );
    const host = await listenOnLoopback((incoming, outgoing) => {
      if (incoming.url!.startsWith('/api/agent/'))
        gateway.handleRequest(incoming, outgoing, { basePath: '/api/agent' });
      else outgoing.writeHead(404).end(`Cannot GET ${incoming.url}`);
    });
    const elsewhere = await doctor(['--url', `${host}/agent`, '--token', TOKEN]);
    expect(elsewhere.code).to.equal(1);
    expect(elsewhere.ill.address!.fix).to.equal(`Use --url ${host}/api/agent`);
    const above = await doctor(['--url', `${host}/api/agent/v1`, '--token', TOKEN]);
    expect(above.ill.address!.fix).to.equal(`Use --url ${host}/api/agent`);
    const site = await listenOnLoopback((_incoming, outgoing) =>
      outgoing.writeHead(200).end('<html>hello</html>'),
    );
    const none = await doctor(['--url', site]);
    expect(none.ill.address!.text).to.contain('not as a gateway does');
  });

  it("examines a gateway below its own basePath, and repeats the gateway's words where that is left out", async () => {
    const { url } = await start({ basePath: '/team/agent' });
    expect((await doctor(['--url', url, '--token', TOKEN])).code).to.equal(0);
    const above = await doctor(['--url', new URL(url).origin, '--token', TOKEN]);
    expect(above.ill.address!.text).to.contain(
      "There is no /status; the gateway's routes begin at /team/agent",
    );
  });

  it('finds routes that were moved, or are not served', async () => {
    const without = await doctor(['--url', (await start({ extraRoutes: false })).url, '--token', TOKEN]);
    expect(without.ill.address!.text).to.contain('without the routes that doctor asks');
    const { url } = await start({ extraRoutes: '/_gateway' });
    const { ill } = await doctor(['--url', url, '--token', TOKEN]);
    expect(ill.address!.fix).to.equal(`Use --url ${url} --extra-routes /_gateway`);
    const moved = await doctor(['--url', url, '--token', TOKEN, '--extra-routes', '/_gateway']);
    expect(moved.code).to.equal(0);
  });

  it('finds a proxy that buffers, and one that passes no upgrade on', async () => {
    const { url } = await start();
    const { code, ill } = await doctor([
      '--url',
      await plainProxy(url, { buffers: true }),
      '--token',
      TOKEN,
      '--timeout',
      '10',
    ]);
    expect(code).to.equal(1);
    expect(Object.keys(ill)).to.deep.equal(['events', 'WebSocket']);
    expect(ill.events!.text).to.contain('buffers');
    expect(ill.events!.fix).to.contain('proxy_buffering off');
    expect(ill.WebSocket).to.include({ status: 'warning' });
    expect(ill.WebSocket!.text).to.contain('answered with 404');
    expect(ill.WebSocket!.fix).to.contain('Upgrade $http_upgrade').and.contain('gateway.attach(server)');
  });

  it('finds a gateway that takes no work, says why and what to do', async () => {
    let check = (): Promise<void> => Promise.reject(new Error('No space left on device'));
    const { url } = await start({ store: Object.assign(memoryStore(), { check: () => check() }) });
    const examined = async () => {
      const { code, ill } = await doctor(['--url', url, '--token', TOKEN]);
      expect(code).to.equal(1);
      expect(Object.keys(ill)).to.deep.equal(['readiness']);
      return ill.readiness!;
    };
    const full = await examined();
    expect(full.text).to.equal('it takes no work (store-unwritable): The store cannot be written');
    expect(full.fix).to.contain('log').and.contain('space');
    check = () => new Promise(() => {});
    await becomes(url, '503 OVERLOADED store-silent');
    const silent = await examined();
    expect(silent.text).to.contain('(store-silent)');
    expect(silent.fix).to.contain('reached');
  });

  it('finds that readers are turned away, or get bytes without an event', async () => {
    const { url } = await start();
    const behind = (said: string, ends: boolean) => plainProxy(url, { says: { said, ends } });
    const eventsOf = async (at: string, ...more: string[]): Promise<Finding> => {
      const { code, ill } = await doctor(['--url', at, '--token', TOKEN, ...more]);
      expect(code).to.equal(1);
      return ill.events!;
    };
    const away = await eventsOf(await behind('retry: 3894\n\n', true));
    expect(away.text).to.contain('come again');
    expect(away.fix).to.contain('readiness');
    const cut = await eventsOf(await behind(': hello\n\nevent: connected\n', true));
    expect(cut.text).to.contain('ends');
    const silent = await eventsOf(await behind(': hello\n\n', false), '--timeout', '3');
    expect(silent.text).to.contain('no event came');
  });

  it('finds origins that are not listed, and a proxy that answers preflights itself', async () => {
    const { url } = await start();
    const args = ['--token', TOKEN, '--origin', 'https://app.example'];
    const denied = await doctor(['--url', url, ...args]);
    expect(denied.code).to.equal(1);
    expect(denied.ill.CORS!.fix).to.contain("origins: ['https://app.example']");
    const listed = await start({ origins: ['https://app.example'] });
    const proxy = await plainProxy(listed.url, { answersOptions: true });
    const eaten = await doctor(['--url', proxy, ...args]);
    expect(eaten.ill.CORS!.text).to.contain('the preflight (204) allows no origin');
  });

  it('finds clocks that differ, and another version of the protocol', async () => {
    const { url } = await start();
    const proxy = await FaultProxy.start(url);
    proxy.rewrite = (text) =>
      text
        .replace(
          /^Date: (.*)\r$/m,
          (_, date) => `Date: ${new Date(Date.parse(date) + 600_000).toUTCString()}\r`,
        )
        .replace('"protocol":{"min":1,"max":1}', '"protocol":{"min":8,"max":9}');
    const { code, ill } = await doctor(['--url', proxy.url, '--token', TOKEN]);
    expect(code).to.equal(1);
    expect(Object.keys(ill)).to.deep.equal(['clock', 'version']);
    expect(ill.clock!.text)
      .to.match(/ahead of this machine's$/)
      .and.match(/ (?:59\d|60\d) s /);
    expect(ill.version!.text).to.equal('the gateway speaks protocol 8 to 9, this package 1');
    expect(ill.version!.fix).to.contain('Update this package');
  });

  it('finds a taken port, and by whom', async () => {
    const { url } = await start();
    const { port } = new URL(url);
    const taken = await doctor(['--port', port]);
    expect(taken.code).to.equal(1);
    expect(taken.ill[`port ${port}`]!.text).to.equal('is taken by another gateway');
    const other = new URL(await listenOnLoopback((_incoming, outgoing) => outgoing.end('hello'))).port;
    expect((await doctor(['--port', other])).ill[`port ${other}`]!.text).to.equal(
      'is taken by another program',
    );
    const free = await doctor(['--port', '0']);
    expect(free.code).to.equal(0);
    expect(free.findings.map(({ about }) => about)).to.deep.equal(['Node', 'port 0']);
  });

  it('finds a database that is in use, and makes none', async () => {
    const path = newDatabase();
    await startDurable(path, { app: echo });
    const { code, ill } = await doctor(['--db', path]);
    expect(code).to.equal(1);
    const [found] = Object.values(ill);
    expect(found!.text).to.contain('is in use by another process');
    expect(found!.fix).to.contain('Stop the gateway that has it');
    const none = join(tempDir(), 'none', 'a.db');
    expect((await doctor(['--db', none])).code).to.equal(0);
  });

  it('finds that nothing listens, a name that nobody knows, TLS where there is none, and silence', async () => {
    const { url } = await start();
    const port = new URL(await listenOnLoopback(() => {})).port;
    const cases: readonly (readonly [string, string, string])[] = [
      ['http://127.0.0.1:2', 'address', 'nothing listens at 127.0.0.1:2'],
      ['http://no-such-name.invalid', 'address', 'nobody knows the name no-such-name.invalid'],
      [url.replace('http:', 'https:'), 'address', 'speaks no TLS'],
      [`http://127.0.0.1:${port}`, 'address', 'does not answer'],
    ];
    for (const [at, about, text] of cases) {
      const { code, ill } = await doctor(['--url', at, '--token', TOKEN, '--timeout', '3']);
      expect(code).to.equal(1);
      expect(ill[about]!.text, at).to.contain(text);
    }
  });

  it('finds a host name that the gateway does not answer to', async () => {
    const { url } = await start();
    const { code, ill } = await doctor(['--url', await plainProxy(url, { host: 'agent.example' })]);
    expect(code).to.equal(1);
    expect(ill['host name']!.text).to.contain('"agent.example"');
    expect(ill['host name']!.fix).to.contain('allowedHosts');
  });

  it('looks at a Unix socket', async () => {
    const socketPath = `${socketDirectory()}/a.sock`;
    await start({ socketPath });
    expect((await doctor(['--socket', socketPath, '--token', TOKEN])).code).to.equal(0);
    const wrong = await doctor(['--socket', socketPath, '--token', 'wrong']);
    expect(wrong.ill[`socket ${socketPath}`]!.text).to.equal('the token is refused');
    const none = await doctor(['--socket', `${socketPath}.none`, '--token', TOKEN]);
    expect(none.ill[`socket ${socketPath}.none`]!.fix).to.contain('socketPath');
  });
});
