import { expect } from 'chai';
import { createGateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { post, startGateway, TestLogger } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

describe('gateway.on', () => {
  it('session:created and session:closed tell { sessionId }', async () => {
    const { gateway, url } = await startGateway({ app: echo, auth: byName });
    const created = new Hearing(gateway, 'session:created');
    const closed = new Hearing(gateway, 'session:closed');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    await post(`${url}/send`, { sessionId: 'main', message: 'again' }, as('alice'));
    expect(created.heard).to.deep.equal([{ sessionId: 'main', app: 'default', user: { id: 'alice' } }]);
    await post(`${url}/close`, { sessionId: 'main' }, as('alice'));
    expect(await closed.nth()).to.include({ sessionId: 'main', app: 'default' });
    await post(`${url}/send`, { sessionId: 'main', message: 'anew' }, as('alice'));
    expect(created.heard).to.have.length(2);
  });

  it('client:connected and client:disconnected tell { clientId }, for streams of events and not for sends', async () => {
    const { gateway, url } = await startGateway({ app: echo, auth: byName });
    const connected = new Hearing(gateway, 'client:connected');
    const disconnected = new Hearing(gateway, 'client:disconnected');
    await post(
      `${url}/send`,
      { sessionId: 'main', message: 'hi' },
      { ...as('alice'), accept: 'text/event-stream' },
    ).catch(() => {});
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    const { data } = await stream.until(({ event }) => event === 'connected');
    const expected = {
      clientId: data.clientId,
      connectionId: data.connectionId,
      transport: 'sse',
      user: { id: 'alice' },
    };
    expect(connected.heard).to.deep.equal([expected]);
    stream.close();
    expect(await disconnected.nth()).to.deep.equal(expected);
  });

  it('run:started and run:ended enclose a run', async () => {
    const { gateway, url } = await startGateway({ app: echo, auth: byName });
    const started = new Hearing(gateway, 'run:started');
    const ended = new Hearing(gateway, 'run:ended');
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    expect(await started.nth()).to.deep.include({
      sessionId: 'main',
      runId: body.runId,
      user: { id: 'alice' },
    });
    expect(await ended.nth()).to.deep.equal({ sessionId: 'main', runId: body.runId, stopReason: 'end' });
  });

  it('started tells the URL; error tells what went wrong inside', async () => {
    const log = new TestLogger();
    const gateway = closeLater(
      createGateway({
        app: echo,
        port: 0,
        logger: log,
        methods: {
          boom: async () => {
            throw new Error('inner');
          },
        },
      }),
      (it) => it.close(),
    );
    const started = new Hearing(gateway, 'started');
    const failed = new Hearing(gateway, 'error');
    const { url } = await gateway.start();
    expect(await started.nth()).to.deep.equal({ url });
    expect((await post(`${url}/invoke`, { method: 'boom' })).status).to.equal(500);
    expect((await failed.nth()).error)
      .to.be.an('error')
      .with.property('message', 'inner');
  });

  it('a listener that throws or rejects harms nothing, and one that stopped listening hears nothing', async () => {
    const { gateway, url, log } = await startGateway({ app: echo });
    gateway.on('session:created', () => {
      throw new Error('listener');
    });
    gateway.on('session:created', (async () => {
      throw new Error('async listener');
    }) as () => void);
    let heard = 0;
    const stop = gateway.on('session:created', () => {
      heard += 1;
    });
    expect((await post(`${url}/send`, { sessionId: 'a', message: 'hi' })).status).to.equal(200);
    stop();
    expect((await post(`${url}/send`, { sessionId: 'b', message: 'hi' })).status).to.equal(200);
    expect(heard).to.equal(1);
    expect(log.lines.filter(({ level }) => level === 'error')).to.have.length(4);
  });
});
