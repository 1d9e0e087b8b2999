import { expect } from 'chai';
import { textOf } from '../../shared/messages.js';
import { WebSocket } from '../support/behind-proxy.js';
import { connectClient } from '../support/client.js';
import { jsonHeaders } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { Pair } from './pair.js';
import { PROXIES } from './proxies.js';
import { seqOf, withEventSource, withSdk } from './readers.js';

/** Answers word by word. */
const SERVER = `
export const config = {
  trustProxy: 1,
  // A run that is cut for being late is another test's; here none is, however slow the machine.
  limits: { drainMs: 120_000 },
  app: {
    async *run(turn) {
      for (const word of ('You said: ' + turn.text).split(' ')) {
        yield word + ' ';
        await new Promise((done) => setTimeout(done, 20));
      }
    },
  },
};`;

const SESSIONS = ['one', 'two'];
/** Everything that the gateway has of a session so far: the messages of its user, and the number of the last event. */
async function kept(url: string, sessionId: string, answers: number) {
  const stream = await openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, {
    headers: jsonHeaders(),
  });
  const those = (type: string) => stream.events.filter(({ event }) => event === type);
  await until(() => those('message_end').length >= answers);
  const asked = those('message_accepted').map(({ data }) => textOf(data.message));
  for (const { data } of those('message_end')) {
    expect(data.stopReason).to.equal('end');
    expect(textOf(data.message)).to.match(/^You said: \w+ \d+ $/);
  }
  return { asked, head: seqOf(those('message_end').at(-1)!.id!) };
}

for (const proxy of PROXIES) {
  describe(`two gateways on one database behind ${proxy.name}, each restarted under load`, () => {
    it('loses nothing and doubles nothing', async function () {
      proxy.need(this);
      // Processes start in their own time.
      this.timeout(300_000);
      const pair = await Pair.start(SERVER);
      const url = await proxy.start({ ports: pair.ports });
      const sse = connectClient(url);
      const webSocket = connectClient(url, { transport: 'websocket', WebSocket });
      const readers = SESSIONS.flatMap((id) => [
        withSdk(sse, id, 'SSE'),
        withSdk(webSocket, id, 'WebSocket'),
        withEventSource(url, id),
      ]);

      let isLoaded = true;
      const sent = new Map<string, string[]>(SESSIONS.map((id) => [id, []]));
      const sending = Promise.all(
        SESSIONS.flatMap((id) =>
          [sse, webSocket].map(async (client, sender) => {
            for (let count = 1; isLoaded; count++) {
              const text = `${sender === 0 ? 'SSE' : 'WebSocket'} ${count}`;
              sent.get(id)!.push(text);
              // How it ended is asked of the log below: a client that cannot ask while nobody answers says `lost`.
              await client.send(id, text).result;
            }
          }),
        ),
      );
      const served = () => [...sent.values()].map((texts) => texts.length);
      const goOn = async () => {
        const before = served();
        const goesOn = until(() => served().every((count, at) => count > before[at]! + 2));
        // A send that fails ends its sender.
        await Promise.race([goesOn, sending]);
      };
      await goOn();
      expect(await pair.handOver(0)).to.equal(0);
      await goOn();
      expect(await pair.handOver(1)).to.equal(0);
      await goOn();
      isLoaded = false;
      await sending;

      for (const id of SESSIONS) {
        const { asked, head } = await kept(`http://127.0.0.1:${pair.ports[0]}`, id, sent.get(id)!.length);
        expect(asked).to.have.members(sent.get(id)!);
        const all = Array.from({ length: head }, (_, at) => at + 1);
        for (const reader of readers.filter(({ name }) => name.endsWith(` of ${id}`))) {
          await until(() => reader.failed !== undefined || reader.seqs.at(-1) === head);
          expect(reader.failed, reader.name).to.equal(undefined);
          expect(reader.gaps, reader.name).to.deep.equal([]);
          expect(reader.seqs, reader.name).to.deep.equal(all);
        }
      }
    });
  });
}
