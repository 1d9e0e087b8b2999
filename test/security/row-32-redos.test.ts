import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';
import { rawClient, requestText } from '../support/raw-client.js';

const LENGTH = 15_000;
/** Texts that make patterns with nested quantifiers, and searches from each place, go back and forth. */
const TEXTS = ['/', 'a', ' ', '-', '.', '/a', ',', '=', '%2F', ':', '~', 'a,', '\t', ' ,', '"'].map((piece) =>
  piece.repeat(LENGTH / piece.length),
);
const HEADERS = [
  'Authorization',
  'Accept',
  'Content-Type',
  'Prefer',
  'Last-Event-ID',
  'traceparent',
  'Origin',
  'Cookie',
];

/** CPU that requests cost, in milliseconds; both ends are in this process. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('threat row 32: texts that make a parser go back and forth', () => {
  it('cost about as much as harmless ones of their length, as paths, queries and headers', async () => {
    const { url, gateway } = await startGateway({ app: echo });
    gateway.use({
      name: 'routes',
      setup: (context) => context.route('/plugin/route', ({ response }) => void response.end('ok')),
    });
    expect(await (await fetch(`${url}/plugin/route/below`)).text()).to.equal('ok');
    const ask = async (line: string, headers: Record<string, string> = {}): Promise<void> => {
      const client = rawClient(url);
      client.socket.write(requestText(line, undefined, { Connection: 'close', ...headers }));
      await client.until(/^HTTP\/1\.1 [1-5]\d\d /);
      client.socket.destroy();
    };
    const times = async (count: number, one: () => Promise<void>): Promise<void> => {
      for (let i = 0; i < count; i++) await one();
    };
    const harmless = 'abcdefghij'.repeat(LENGTH / 10);
    await times(20, () => ask(`GET /${harmless}`));
    const plain = await cpuOf(() => times(5, () => ask(`GET /${harmless}`)));
    for (const text of TEXTS) {
      if (/^[!-~]+$/.test(text)) {
        for (const line of [
          `GET /${text}`,
          `GET /events?lastEventId=${text}`,
          `GET /status?sessionId=${text}`,
        ]) {
          const cost = await cpuOf(() => times(5, () => ask(line)));
          expect(cost, line.slice(0, 40)).to.be.lessThan(plain * 8 + 200);
        }
      }
      for (const name of HEADERS) {
        const cost = await cpuOf(() => ask('GET /status', { [name]: `x${text}x` }));
        expect(cost, `${name}: ${text.slice(0, 10)}`).to.be.lessThan(plain + 200);
      }
    }
    expect((await get(`${url}/status`)).status).to.equal(200);
  });
});
