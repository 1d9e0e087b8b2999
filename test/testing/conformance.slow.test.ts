import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { expect } from 'chai';
import { conformance, scripted, testGateways } from '../../testing/index.js';
import { runCliIn } from '../cli/run-cli.js';
import { describeDaily } from '../support/daily.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';

const start = testGateways(afterEach);
const app = scripted([
  'You ',
  'said ',
  'hello. ',
  { data: 'card', value: 1 },
  'And ',
  'that ',
  'is ',
  'all.',
]);

/** What stands between, and does something wrong with what passes. */
interface Wrong {
  readonly request?: (request: IncomingMessage) => void;
  readonly stream?: () => Transform;
}

async function between(target: string, wrong: Wrong): Promise<string> {
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    wrong.request?.(request);
    const onward = ask(`${target}${request.url}`, { method: request.method, headers: request.headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      response.flushHeaders();
      const isStream = answer.headers['content-type']?.startsWith('text/event-stream');
      const through = isStream && wrong.stream ? answer.pipe(wrong.stream()) : answer;
      through.pipe(response);
      response.on('close', () => answer.destroy());
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeLater(server, (it) => {
    it.closeAllConnections();
    it.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Changes each event of a stream. */
const events = (change: (event: string) => string) => (): Transform => {
  let rest = '';
  return new Transform({
    transform(chunk, _encoding, done) {
      const whole = `${rest}${chunk}`.split('\n\n');
      rest = whole.pop()!;
      done(null, whole.map((event) => change(`${event}\n\n`)).join(''));
    },
  });
};

/** @param patienceMs Whatever a proxy holds back never comes. */
async function broken(url: string, patienceMs: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, fault } of conformance({ url, token: 'ada', patienceMs }))
    if (fault !== undefined) found.push(name);
  return found;
}

describeDaily('conformance', 3, () => {
  it('finds nothing wrong with a gateway, from the command line', async () => {
    const { url } = await start({ app });
    const program = runCliIn(tempDir(), ['conformance', url, '--token', 'ada', '--json']);
    expect(await program.exited, program.output).to.equal(0);
    const results = program.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string });
    expect(results.length).to.be.above(8);
  });

  it('says on the command line what is broken, and ends with 1', async () => {
    const { url } = await start({ app });
    const proxy = await between(url, { request: ({ headers }) => void delete headers['last-event-id'] });
    const program = runCliIn(tempDir(), ['conformance', proxy, '--token', 'ada', '--timeout', '2']);
    expect(await program.exited, program.output).to.equal(1);
    expect(program.output).to.match(/broken goes on exactly behind each event/);
  });

  it('leaves no session behind', async () => {
    const gateway = await start({ app });
    expect(await broken(gateway.url, 60_000)).to.deep.equal([]);
    expect((await gateway.client({ user: 'ada' }).sessions()).sessions).to.deep.equal([]);
  });

  for (const [what, wrong, expected] of [
    [
      'drops an event',
      { stream: events((event) => (event.includes('that ') ? '' : event)) },
      /misses|answers|exactly/,
    ],
    [
      'passes a piece on in other words',
      { stream: events((event) => event.replace('"that "', '"it "')) },
      /answers|exactly/,
    ],
    [
      'holds streams back',
      {
        stream: () => {
          const held: Buffer[] = [];
          return new Transform({
            transform(chunk, _encoding, done) {
              held.push(chunk);
              done();
            },
            flush(done) {
              done(null, Buffer.concat(held));
            },
          });
        },
      },
      /passes events on/,
    ],
  ] as const satisfies readonly (readonly [string, Wrong, RegExp])[]) {
    it(`finds a proxy that ${what}`, async () => {
      const { url } = await start({ app });
      expect((await broken(await between(url, wrong), 1_500)).join('; ')).to.match(expected);
    });
  }
});
