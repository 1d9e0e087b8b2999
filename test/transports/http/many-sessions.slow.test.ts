import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { EventSource } from 'eventsource';
import { passOn } from '../../plugins/passing-proxy.js';
import { echo } from '../../support/apps.js';
import { post, startGateway, TOKEN } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

describe('one stream of many sessions', () => {
  for (const [count, kept] of [
    [9, 9],
    [20, 20],
    [120, 30],
  ] as const)
    it(`a native EventSource of ${count} sessions goes on in ${kept === count ? 'each' : 'many'} of them, and is told a gap in all others`, async () => {
      const { url } = await startGateway({ app: echo, limits: { sendsPerSecond: 1000, heartbeatMs: 40 } });
      const send = (sessionId: string) => post(`${url}/send`, { sessionId, message: 'hi' });
      const streams: ServerResponse[] = [];
      const port = await passOn(url, (response, answer) => {
        streams.push(answer);
        response.pipe(answer);
      });
      const ids = Array.from(
        { length: count },
        (_, at) => `session-${at}-${'x'.repeat(count > 100 ? 30 : 3)}`,
      );
      const query = ids.map((id) => `sessionId=${id}`).join('&');
      const told = new Map<string, string[]>(ids.map((id) => [id, []]));
      const beats: string[] = [];
      let opened = 0;
      const source = new EventSource(`http://127.0.0.1:${port}/events?${query}&token=${TOKEN}`);
      closeLater(source, () => source.close());
      source.addEventListener('connected', () => {
        opened += 1;
      });
      source.addEventListener('heartbeat', ({ lastEventId }) => void beats.push(lastEventId));
      for (const type of ['message_end', 'gap', 'snapshot'])
        source.addEventListener(type, ({ data }) => {
          const { sessionId } = JSON.parse(data);
          told.get(sessionId)!.push(type);
        });
      await until(() => opened === 1);
      for (const id of ids) await send(id);
      await until(() => [...told.values()].every((types) => types.length === 1));
      const seen = beats.length;
      await until(() => beats.length > seen + 1 && beats.at(-1) !== '');
      streams[0]!.destroy();
      for (const id of ids) await send(id);
      await until(() => opened === 2 && [...told.values()].every((types) => types.length > 1));
      const exact = ids.filter((id) => told.get(id)!.join() === 'message_end,message_end');
      const gone = ids.filter((id) => told.get(id)!.slice(0, 3).join() === 'message_end,gap,snapshot');
      expect(exact.length + gone.length, JSON.stringify([...told])).to.equal(count);
      expect(exact.length).to.be.at.least(kept);
    });
});
