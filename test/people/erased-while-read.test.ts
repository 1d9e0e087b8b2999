import { expect } from 'chai';
import { READ_PLACES } from '../../server/features/inbox/read-place.js';
import type { Store } from '../../server/index.js';
import { defineApp } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { gate } from '../support/gate.js';
import { post, startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';

const app = defineApp({
  async *run() {
    yield 'ok';
  },
});

/** A store whose change of records outside of appends waits until the test lets it go. */
function held() {
  const store = memoryStore();
  const [arrived, open] = [gate(), gate()];
  const changeRecords: Store['changeRecords'] = async (home, changes, options) => {
    if (changes.some(({ kind }) => kind === READ_PLACES.name || kind === 'notice')) {
      arrived.open();
      await open.passed;
    }
    return store.changeRecords(home, changes, options);
  };
  return { store: overriding(store, { changeRecords }), arrived, open };
}

describe('what is on its way while its session is erased', () => {
  it('is no read place afterwards', async () => {
    const { store, arrived, open } = held();
    const { url, gateway } = await startGateway({ app, store });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const read = post(`${url}/read`, { sessionId: 'main' });
    await arrived.passed;
    await gateway.erase({ user: { id: 'token' } });
    open.open();
    expect((await read).body.error).to.include({ code: 'SESSION_NOT_FOUND' });
    expect(await store.records({ owner: '[null,"token"]', kind: READ_PLACES.name, limit: 9 })).to.deep.equal(
      [],
    );
  });

  it('is no notice afterwards', async () => {
    const { store, arrived, open } = held();
    const { url, gateway } = await startGateway({ app, store, notify: { deliver: () => {} } });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const told = gateway
      .session('main', { user: { id: 'token' } })
      .notify({ id: 'n', title: 'Hi' })
      .then(
        () => 'told',
        (error: { readonly code?: string }) => error.code,
      );
    await arrived.passed;
    await gateway.erase({ user: { id: 'token' } });
    open.open();
    expect(await told).to.equal('SESSION_NOT_FOUND');
  });
});
