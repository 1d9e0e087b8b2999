import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { createClient } from '../../client/index.js';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { method } from '../../server/index.js';
import { describeDaily } from '../support/daily.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { type Program, ROOT, runCommand } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { CLI, runCliIn } from './run-cli.js';

const cli = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program =>
  runCliIn(ROOT, args, env);

const at = (url: string) => ({ AGENT_SESSION_GATEWAY_URL: url, AGENT_SESSION_GATEWAY_TOKEN: TOKEN });

/** What a command writes that ends by itself, and well. */
async function output(url: string, ...args: readonly string[]): Promise<string> {
  const program = cli(args, at(url));
  expect(await program.exited, program.output).to.equal(0);
  return program.output;
}

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const connect = (url: string) =>
  closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());

describeDaily('agent-session-gateway tail', 3, () => {
  it('follows a session through a restart of the gateway, each event once', async () => {
    const path = newDatabase();
    const app = createDemoApp(1);
    const first = await startDurable(path, { app });
    await connect(first.url).send('main', 'weather in Oslo').result;
    const program = cli(['tail', '--from', 'earliest', '--json'], at(first.url));
    await program.prints(/"type":"message_end".*\n/);
    await first.gateway.close();
    await program.prints(/\(the connection is lost; trying again\)\n/);
    const second = await startDurable(path, { app, port: Number(new URL(first.url).port) });
    await program.prints(/\(connected again\)\n/);
    await connect(second.url).send('main', 'weather in Rome').result;
    await program.prints(/"type":"message_end"[\s\S]*"type":"message_end".*\n/);
    expect(await program.kill('SIGINT')).to.equal(0);
    const events = jsonLines(program.output.replace(/^\(.*\)\n/gm, ''));
    const places = events.map(({ cursor }) => Number(cursor.split('.')[2]));
    expect(places).to.deep.equal(places.map((_, index) => index + 1));
  });

  it('ends with --no-follow, shows some types, and is readable without --json', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const never = cli(['tail', 'never-used', '--no-follow'], at(url));
    expect(await never.exited).to.equal(2);
    expect(never.output).to.match(/^There is no session never-used\b.*\n$/);
    const client = connect(url);
    await client.send('main', 'weather in Oslo').result;
    const { cursor } = await client.session('main').state();
    const all = jsonLines(await output(url, 'tail', '--no-follow', '--json'));
    expect(all.at(-1)).to.include({ type: 'message_end', cursor });
    expect(await output(url, 'tail', '--no-follow', '--from', cursor!)).to.equal('');
    const after = jsonLines(await output(url, 'tail', '--no-follow', '--json', '--from', all.at(-3).cursor));
    expect(after).to.deep.equal(all.slice(-2));
    const some = await output(url, 'tail', '--no-follow', '--type', 'tool_use', 'tool_result');
    expect(some).to.match(/^\S+Z \S+ tool_use \{.*"city":"Oslo".*\}\n\S+Z \S+ tool_result .*\n$/);
    const snapshot = jsonLines(await output(url, 'tail', '--no-follow', '--json', '--from', 'snapshot'));
    expect(snapshot.map(({ type }) => type)).to.deep.equal(['snapshot']);
    for (const follow of [['--no-follow'], []]) {
      const lost = cli(['tail', ...follow, '--from', 'nonsense'], at(url));
      expect(await lost.exited, lost.output).to.equal(2);
      expect(lost.output).to.match(/^--from is "nonsense", which is no cursor of main: .*\n$/);
    }
    const endless = cli(['tail', '--no-follow', '--from', 'now'], at(url));
    expect(await endless.exited).to.equal(2);
  });
});

describeDaily('agent-session-gateway sessions', 3, () => {
  it('lists them, the last first, page by page', async () => {
    const { url } = await startGateway({ app: createDemoApp(0) });
    const client = connect(url);
    for (const name of ['one', 'two', 'three']) await client.send(name, 'announce x').result;
    const asked = client.send('asked', 'delete a.txt');
    for await (const { type } of asked) if (type === 'tool_confirmation_required') break;
    const listed = await output(url, 'sessions');
    expect(listed).to.match(
      /^waiting +\S+Z {2}asked .*\nidle +\S+Z {2}three .*\nidle .*two.*\nidle .*one.*\n$/,
    );
    const some = await output(url, 'sessions', '--limit', '2', '--json');
    expect(some).to.match(/There are more; --limit shows them\.\n$/);
    expect(jsonLines(some.replace(/There are.*\n$/, '')).map(({ sessionId }) => sessionId)).to.deep.equal([
      'asked',
      'three',
    ]);
    expect(jsonLines(await output(url, 'sessions', '--json', '--status', 'waiting'))).to.have.length(1);
    for (const wrong of [
      ['--limit', 'none'],
      ['--status', 'lazy'],
    ]) {
      const program = cli(['sessions', ...wrong], at(url));
      expect(await program.exited, program.output).to.equal(2);
    }
  });
});

describeDaily('agent-session-gateway invoke', 3, () => {
  const methods = {
    add: method({ schema: z.object({ a: z.number(), b: z.number() }), handler: ({ a, b }) => a + b }),
    count: method({
      description: 'Counts up',
      schema: z.object({ to: z.number() }),
      handler: async function* ({ to }) {
        for (let n = 1; n <= to; n++) yield { n };
      },
    }),
    nothing: () => undefined,
    admin: method({ roles: ['admin'], handler: () => 1 }),
  };

  it('lists methods, calls them, and writes results and items as JSON', async () => {
    const { url } = await startGateway({ app: createDemoApp(0), methods });
    const listed = await output(url, 'invoke');
    expect(listed).to.contain('add\n').and.contain('count  Counts up  (streams)\n').and.not.contain('admin');
    expect(await output(url, 'invoke', 'add', '{"a":1,"b":2}')).to.equal('3\n');
    expect(await output(url, 'invoke', 'nothing')).to.equal('');
    expect(await output(url, 'invoke', 'count', '{"to":3}')).to.equal('{"n":1}\n{"n":2}\n{"n":3}\n');
    const without = await startGateway({ app: createDemoApp(0), methods, extraRoutes: false });
    expect(await output(without.url, 'invoke', 'add', '{"a":1,"b":2}')).to.equal('3\n');
  });

  it('says which field is wrong, and what is no JSON', async () => {
    const { url } = await startGateway({ app: createDemoApp(0), methods });
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['add', '{"a":1}'], /^Invalid params of add: b: (?!.*b: ).*\n$/],
      [['add', '{}'], /^Invalid params of add: a: (?!.*a: ).*; b: .*\n$/],
      [['add', '{a:1}'], /^The params are no JSON: .*\n$/],
      [['none'], /^.*none.*\n$/],
    ];
    for (const [args, said] of cases) {
      const program = cli(['invoke', ...args], at(url));
      expect(await program.exited).to.equal(2);
      expect(program.output).to.match(said);
    }
  });
});

describeDaily('the token of the commands that call', 3, () => {
  it('is that of GATEWAY_TOKEN where no other is given, and is never shown', async () => {
    const { url } = await startGateway({ app: createDemoApp(0), methods: { three: async () => 3 } });
    const called = (token: object) => cli(['invoke', 'three'], { AGENT_SESSION_GATEWAY_URL: url, ...token });
    const both = called({ GATEWAY_TOKEN: 'of-another-gateway', AGENT_SESSION_GATEWAY_TOKEN: TOKEN });
    const one = called({ GATEWAY_TOKEN: TOKEN });
    const none = called({ GATEWAY_TOKEN: '' });
    const help = cli(['chat', '--help'], { GATEWAY_TOKEN: TOKEN });
    expect([await both.exited, await one.exited, await none.exited, await help.exited]).to.deep.equal([
      0, 0, 2, 0,
    ]);
    expect([both.output, one.output]).to.deep.equal(['3\n', '3\n']);
    expect(help.output).to.include('GATEWAY_TOKEN').and.not.include(TOKEN);
  });
});

describeDaily('agent-session-gateway token', 3, () => {
  it('makes secrets, each another, that a gateway takes', async () => {
    const [one, other] = [cli(['token']), cli(['token', 'secret'])];
    expect([await one.exited, await other.exited]).to.deep.equal([0, 0]);
    expect(one.output)
      .to.match(/^[\w-]{43}\n$/)
      .and.not.equal(other.output);
  });

  it('makes JWTs that a gateway takes, with roles and a tenant', async () => {
    const secret = 'a-secret-of-more-than-32-bytes-for-tests';
    const { url } = await startGateway({
      app: createDemoApp(0),
      auth: { type: 'jwt', secret, issuer: 'me', audience: 'you', requireExp: true },
      methods: { who: method({ roles: ['admin'], handler: (_, { user }) => user }) },
    });
    const args = [
      '--sub',
      'ann',
      '--roles',
      'admin,dev',
      '--tenant',
      'acme',
      '--issuer',
      'me',
      '--audience',
      'you',
    ];
    const made = cli(['token', 'jwt', ...args, '--expires', '5m', '--claim', 'plan=gold'], {
      JWT_SECRET: secret,
    });
    expect(await made.exited, made.output).to.equal(0);
    const token = made.output.trim();
    const { exp, iat } = decodeJwt(token);
    expect(exp! - iat!).to.equal(300);
    const called = cli(['invoke', 'who'], { ...at(url), AGENT_SESSION_GATEWAY_TOKEN: token });
    expect(await called.exited, called.output).to.equal(0);
    expect(JSON.parse(called.output)).to.deep.include({
      id: 'ann',
      roles: ['admin', 'dev'],
      tenantId: 'acme',
    });
  });

  it('wants a secret, and warns of a short one', async () => {
    const none = cli(['token', 'jwt', '--sub', 'ann'], { JWT_SECRET: '' });
    expect(await none.exited).to.equal(2);
    expect(none.output).to.match(/^Give the secret .*\n$/);
    const short = cli(['token', 'jwt', '--sub', 'ann', '--secret', 'short']);
    expect(await short.exited).to.equal(0);
    expect(short.output).to.contain('fewer than 32 bytes');
    const never = cli(['token', 'jwt', '--sub', 'ann', '--secret', 'short', '--expires', 'never']);
    expect(await never.exited).to.equal(2);
  });
});

describeDaily('agent-session-gateway', 3, () => {
  it('tells its version, its commands, and what it does not know', async () => {
    const version = cli(['--version']);
    expect(await version.exited).to.equal(0);
    expect(version.output).to.match(/^\d+\.\d+\.\d+\S*\n$/);
    const help = cli(['--help']);
    expect(await help.exited).to.equal(0);
    expect(help.output.match(/^\w[\w ]*:$/gm)).to.deep.equal([
      'Options:',
      'Start:',
      'Talk:',
      'Build:',
      'Operate:',
    ]);
    for (const name of [
      'demo',
      'dev',
      'start',
      'chat',
      'tail',
      'sessions',
      'invoke',
      'token',
      'doctor',
      'generate',
    ])
      expect(help.output).to.match(new RegExp(`^  ${name}\\b`, 'm'));
    const unknown = cli(['servee']);
    expect(await unknown.exited).to.equal(2);
    expect(unknown.output).to.match(/^error: unknown command 'servee'\n/);
  });

  it('ends quietly when nobody reads on', async () => {
    const { url } = await startGateway({ app: createDemoApp(0) });
    const client = connect(url);
    await client.send('main', 'weather in Oslo').result;
    const script = `${CLI.join(' ')} tail --from earliest --json | head -n 1`;
    const program = runCommand('sh', { args: ['-c', script], env: at(url) });
    let code: Awaited<typeof program.exited> | undefined;
    void program.exited.then((it) => {
      code = it;
    });
    // That nobody reads is seen by whoever writes, and the first line may be all that was written so far.
    while (code === undefined) await client.send('main', 'weather in Rome').result;
    expect(code).to.equal(0);
    expect(program.output).to.match(/^\{.*\}\n$/);
  });
});

describeDaily('agent-session-gateway search', 3, () => {
  it('finds what was said in all sessions, in one, and as lines of JSON', async () => {
    const { url } = await startGateway({ app: createDemoApp(1) });
    const client = connect(url);
    await client.send('one', 'where is the swordfish').result;
    await client.send('two', 'a swordfish here').result;
    const text = await output(url, 'search', 'swordfish', 'where');
    expect(text).to.match(/^\S+Z {2}one {2}user .*where is the swordfish$/m);
    expect(text).to.not.match(/two {2}user/);
    const hits = jsonLines(await output(url, 'search', 'swordfish', '--session', 'two', '--json'));
    expect(new Set(hits.map(({ sessionId }) => sessionId))).to.deep.equal(new Set(['two']));
    expect(await output(url, 'search', 'halibut')).to.equal('');
  });
});
