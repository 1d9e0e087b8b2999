import { type Clock, install } from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { jsonHeaders, post, startGateway, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream, type RawStream } from '../support/sse-client.js';

const authorization = { authorization: `Bearer ${TOKEN}` };

/** Lets 70 seconds pass, heartbeat by heartbeat, as the stream shows them. */
async function silence(clock: Clock, stream: RawStream): Promise<void> {
  for (let heartbeats = 1; heartbeats <= 4; heartbeats++) {
    clock.tick(15_500);
    await stream.until(
      (event) => stream.events.filter((it) => it.event === 'heartbeat').indexOf(event) === heartbeats,
    );
  }
  clock.tick(8000);
}

const lastId = (stream: RawStream): string => stream.events.findLast(({ id }) => id !== undefined)!.id!;

describe('70 seconds of silence', () => {
  let clock: Clock;
  let url: string;

  beforeEach(async () => {
    // Real sockets and I/O; only what asks for the time or waits for it is fooled.
    clock = install({
      now: Date.now(),
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    });
    closeLater(clock, (it) => it.uninstall());
    ({ url } = await startGateway({ app: echo }));
  });

  it('leave a quiet stream with a cursor that resumes exactly', async () => {
    await post(`${url}/send`, { sessionId: 'a', message: 'one' });
    const stream = await openStream(`${url}/events?sessionId=a`, { headers: authorization });
    await stream.until(({ event }) => event === 'heartbeat');
    await silence(clock, stream);
    const id = lastId(stream);
    stream.close();
    const { body } = await post(`${url}/send`, { sessionId: 'a', message: 'two' });
    const again = await openStream(`${url}/events?sessionId=a`, {
      headers: { ...authorization, 'last-event-id': id },
    });
    const connected = await again.until(({ event }) => event === 'connected');
    expect(connected.data.sessions.a.resume).to.equal('exact');
    await again.until(({ event }) => event === 'message_end');
    expect(again.events.some(({ event }) => event === 'gap')).to.equal(false);
    expect(again.logged[0]).to.deep.include({ event: 'message_accepted' });
    expect(again.logged.at(-1)?.id).to.equal(body.cursor);
    expect(stream.logged, 'nothing happened before').to.deep.equal([]);
  });

  it('leave a stream of several sessions with a vector that resumes all of them exactly', async () => {
    for (const sessionId of ['a', 'b']) await post(`${url}/send`, { sessionId, message: 'one' });
    const where = `${url}/events?sessionId=a&sessionId=b`;
    const stream = await openStream(where, { headers: authorization });
    await stream.until(({ event }) => event === 'heartbeat');
    await silence(clock, stream);
    const id = lastId(stream);
    stream.close();
    for (const sessionId of ['b', 'a']) await post(`${url}/send`, { sessionId, message: 'two' });
    const again = await openStream(where, { headers: { ...authorization, 'last-event-id': id } });
    for (const name of ['a', 'b'])
      await again.until(({ event, data }) => event === 'message_end' && data.sessionId === name);
    const { sessions } = again.events[0]!.data;
    expect([sessions.a.resume, sessions.b.resume]).to.deep.equal(['exact', 'exact']);
    for (const name of ['a', 'b']) {
      const types = again.logged.filter(({ data }) => data.sessionId === name).map(({ event }) => event);
      expect(types).to.deep.equal([
        'message_accepted',
        'message_start',
        'content_delta',
        'content_delta',
        'message_end',
      ]);
    }
  });

  it('do not lose the beginning of a session that begins while its reader is away', async () => {
    for (const query of ['sessionId=new1', 'sessionId=new2&sessionId=other']) {
      const stream = await openStream(`${url}/events?${query}`, { headers: authorization });
      await stream.until(({ event }) => event === 'heartbeat');
      await silence(clock, stream);
      const id = lastId(stream);
      stream.close();
      const sessionId = query.slice(10, 14);
      await post(`${url}/send`, { sessionId, message: 'hello' });
      const again = await openStream(`${url}/events?${query}`, {
        headers: { ...authorization, 'last-event-id': id },
      });
      await again.until(({ event }) => event === 'message_end');
      expect(again.logged.map(({ event }) => event)[0]).to.equal('message_accepted');
    }
  });

  it('do not lengthen what a filtered stream has to catch up: the stream of a run has its own heartbeats', async () => {
    const body = JSON.stringify({ sessionId: 'a', message: 'x', idempotencyKey: 'k' });
    const stream = await openStream(`${url}/send`, { method: 'POST', headers: jsonHeaders(), body });
    await stream.ended;
    for (let i = 0; i < 3; i++) await post(`${url}/send`, { sessionId: 'a', message: 'more' });
    const id = stream.logged[1]!.id!;
    const headers = { ...jsonHeaders(), 'last-event-id': id };
    const again = await openStream(`${url}/send`, { method: 'POST', headers, body });
    await again.ended;
    expect(again.logged).to.deep.equal(stream.logged.slice(2));
  });
});
