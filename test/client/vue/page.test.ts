import { expect } from 'chai';
import { createSSRApp, effectScope, nextTick, ref, watch } from 'vue';
import { GATEWAY, useGateway, useSession } from '../../../client/vue/index.js';
import { connectClient } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import { holdTimers } from '../../support/held-timers.js';
import { app } from '../pieces.js';

/** A session as a component has it, in a scope that the test ends. */
async function shown(id: Parameters<typeof useSession>[0]) {
  const { url } = await startGateway({ app });
  const client = connectClient(url);
  const host = createSSRApp({ render: () => null }).provide(GATEWAY, client);
  const scope = effectScope();
  const session = host.runWithContext(() => scope.run(() => useSession(id))!);
  return { client, scope, session };
}

describe('vue', () => {
  it('has refs for what a session may lack at first', async () => {
    const { client, scope, session } = await shown('main');
    expect([session.title, session.metadata, session.archived].map(({ value }) => value)).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    await session.send('one').result;
    const changed = new Promise<void>((resolve) => {
      watch(session.archived, () => resolve(), { flush: 'sync' });
    });
    await client.session('main').update({ title: 'One', metadata: { color: 'red' }, archived: true });
    await changed;
    expect(session.title.value).to.equal('One');
    expect(session.metadata.value).to.deep.equal({ color: 'red' });
    expect(session.archived.value).to.equal(true);
    scope.stop();
  });

  it('follows in a scope of its own, and leaves with it', async () => {
    const id = ref('a');
    const { client, scope, session } = await shown(id);
    await session.send('one').result;
    await nextTick();
    expect(session.messages.value).to.have.length(2);
    const { clock } = holdTimers();
    id.value = 'b';
    expect(session.messages.value).to.have.length(0);
    scope.stop();
    const closed = new Promise<void>((resolve) => {
      client.connection.subscribe((state) => state === 'closed' && resolve());
    });
    // It keeps a session for a moment, and its connection for some more.
    await clock.tickAsync(10_000);
    await closed;
  });

  it('says what is missing', () => {
    const app = createSSRApp({ render: () => null });
    app.config.warnHandler = () => {};
    expect(() => app.runWithContext(() => useGateway()))
      .to.throw('app.provide(GATEWAY, client)')
      .with.property('code', 'INVALID_REQUEST');
  });
});
