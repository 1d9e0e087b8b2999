import { expect } from 'chai';
import { createGateway, defineApp, GatewayError, gatewayMiddleware } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { startGateway, TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { byName } from '../support/users.js';

describe('session handles of host code', () => {
  it('app.session(id) works once the app is registered', async () => {
    const app = defineApp({ run: async (turn) => `heard ${turn.text}` });
    expect(() => app.session('main'))
      .to.throw(GatewayError)
      .with.property('code', 'APP_NOT_FOUND');
    const middleware = gatewayMiddleware({
      apps: { app, echo },
      defaultApp: 'echo',
      logger: new TestLogger(),
    });
    closeLater(middleware.gateway, (it) => it.close());
    const session = app.session('main');
    expect(session.id).to.equal('app:main');
    const { message, stopReason } = await session.send('you').result;
    expect(stopReason).to.equal('end');
    expect(message.content).to.deep.equal([{ type: 'text', text: 'heard you' }]);
    expect(await session.status()).to.include({ sessionId: 'app:main', app: 'app', status: 'idle' });
  });

  it('gateway.session(key) is an error where users have sessions of their own and none is named', () => {
    const gateway = createGateway({ app: echo, port: 0, auth: byName });
    expect(() => gateway.session('main'))
      .to.throw(GatewayError, /user/)
      .with.property('code', 'INVALID_REQUEST');
    expect(gateway.session('main', { user: { id: 'a' } }).id).to.equal('main');
    expect(gateway.session('main', { anonymous: true }).id).to.equal('main');
    expect(() => gateway.session('../x', { anonymous: true }))
      .to.throw(GatewayError)
      .with.property('code', 'INVALID_REQUEST');
    expect(() => gateway.session('none:x', { anonymous: true }))
      .to.throw(GatewayError)
      .with.property('code', 'APP_NOT_FOUND');
  });

  it('a session handle sends, reads events, publishes, aborts and closes', async () => {
    const { gateway } = await startGateway({ app: echo });
    const session = gateway.session('main');
    const run = session.send('hi');
    const types: string[] = [];
    for await (const event of run) types.push(event.type);
    expect(types).to.deep.equal([
      'message_accepted',
      'message_start',
      'content_delta',
      'content_delta',
      'message_end',
    ]);
    const reading = (async () => {
      for await (const event of session.channel('news')) return event;
      return null;
    })();
    const events = session.events({ from: 'earliest' })[Symbol.asyncIterator]();
    expect((await events.next()).value).to.include({ type: 'message_accepted' });
    await events.return?.(undefined);
    await session.channel('news').publish({ n: 1 }, { type: 'flash' });
    expect(await reading).to.deep.equal({ type: 'flash', payload: { n: 1 } });
    expect(await session.abort()).to.equal(false);
    await session.close();
    expect((await session.history()).messages).to.deep.equal([]);
  });
});
