import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { heldStore } from '../support/held-store.js';
import { waiting } from '../support/nodes.js';

describe('aborting a run that something else is about to end', () => {
  it('says that it did not', async () => {
    const held = heldStore(memoryStore());
    const { url } = await startGateway({ app: waiting().app, store: held.store });
    const client = connectClient(url);
    const run = client.send('main', 'wait');
    const { runId } = await run.accepted;
    const ending = held.hold();
    const next = client.send('main', 'next', { onBusy: 'interrupt' });
    await ending;
    const aborted = client.abort('main', { runId });
    // It has arrived by the time that what is asked after it is answered.
    await client.status();
    held.release();
    expect([await aborted, (await run.result).stopReason]).to.deep.equal([{ aborted: false }, 'superseded']);
    expect((await next.result).stopReason).to.equal('end');
  });
});
