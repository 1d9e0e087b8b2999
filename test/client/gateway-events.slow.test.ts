import { expect } from 'chai';
import { createGateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { isEnd } from '../support/behind-proxy.js';
import { connectClient, reaches, takeUntil } from '../support/client.js';
import { TestLogger, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { foldOf } from '../support/session-view.js';
import { RUN, seqs, types } from './echo-events.js';

describe('the events of a client', () => {
  // A gateway that drains sends its clients away for some time.
  it('tell of a gateway that began anew, and go on with it', async () => {
    const config = { app: echo, auth: { type: 'token', token: TOKEN }, logger: new TestLogger() } as const;
    const first = createGateway({ ...config, port: 0, limits: { drainMs: 50 } });
    const { url, port } = await first.start();
    const client = connectClient(url!);
    const events = client.events('main', { from: 'earliest' });
    const lost = client.events('quiet', { from: 'earliest' });
    await client.send('main', 'one').result;
    await client.send('quiet', 'one').result;
    expect(types(await takeUntil(events, isEnd))).to.deep.equal(RUN);
    await takeUntil(lost, isEnd);
    await first.close();
    await reaches(client, 'reconnecting');
    const second = createGateway({ ...config, port: port! });
    closeLater(second, (it) => it.close());
    await second.start();
    const gap = await takeUntil(events, ({ type }) => type === 'snapshot');
    expect(gap[0]).to.include({ type: 'gap', reason: 'epoch' });
    expect((await takeUntil(lost, ({ type }) => type === 'snapshot'))[0]).to.include({ type: 'gap' });
    await client.send('main', 'two').result;
    const next = await takeUntil(events, isEnd);
    expect(seqs(next.slice(-5))).to.deep.equal([1, 2, 3, 4, 5]);
    expect(foldOf([...gap, ...next]).messages).to.have.length(2);
  });
});
