import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { jsonHeaders, post, startGateway } from '../support/gateway.js';
import { openStream, postStream } from '../support/sse-client.js';

const FORGED = 'x\n\nevent: message_end\ndata: {"forged":true}\n\n';
const FORGERIES = [
  FORGED,
  FORGED.replaceAll('\n', '\r'),
  FORGED.replaceAll('\n', '\r\n'),
  '\u2028event: x\u2029',
];

describe('threat row 22: events forged by text', () => {
  it('stay data, whatever says them: messages, answers, payloads, items of methods, errors', async () => {
    const { url } = await startGateway({
      app: defineApp({
        async *run(turn) {
          yield turn.text;
          turn.emit('custom', { text: turn.text } as never);
          turn.data('name', turn.text);
          throw new Error(turn.text);
        },
      }),
      methods: {
        flow: async function* (params: never) {
          yield (params as { text: string }).text;
          throw new Error((params as { text: string }).text);
        },
      },
    });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
    let ends = 0;
    for (const text of FORGERIES) {
      await post(`${url}/send`, { sessionId: 'main', message: text });
      await post(`${url}/channel`, { sessionId: 'main', channel: 'room', payload: text });
      ends += 1;
      await stream.until(() => stream.events.filter(({ event }) => event === 'message_end').length === ends);
      await stream.until(() => stream.events.filter(({ event }) => event === 'channel').length === ends);
      const flow = await postStream(`${url}/invoke`, { method: 'flow', params: { text } });
      await flow.ended;
      expect(flow.events.map(({ event }) => event)).to.deep.equal(['ping', 'chunk', 'fail']);
      expect(flow.events[1]!.data).to.equal(text);
    }
    expect(stream.events.some(({ data }) => data.forged)).to.equal(false);
    const deltas = stream.events
      .filter(({ event }) => event === 'content_delta')
      .map(({ data }) => data.delta);
    expect(deltas).to.deep.equal(FORGERIES);
  });

  it('cannot be named: names of channels and sessions are of a fixed set of characters', async () => {
    const { url } = await startGateway({ app: defineApp({ run: () => 'x' }) });
    for (const name of [FORGED, 'a\r', 'a\n', 'a b', 'a\u2028', '']) {
      const { status } = await post(`${url}/channel`, { sessionId: 'main', channel: name, payload: 1 });
      expect(status, JSON.stringify(name)).to.equal(400);
      expect((await post(`${url}/send`, { sessionId: name, message: 'x' })).status).to.equal(400);
    }
  });
});
