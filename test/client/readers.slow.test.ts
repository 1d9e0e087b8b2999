import { expect } from 'chai';
import { info, logged, scriptedClient } from './scripted.js';

describe('readers of one session', () => {
  // A watch lingers for a second after its last listener.
  it('feeds nobody who was left by what another reader of the same moment did', async () => {
    const { transport, client } = scriptedClient();
    const kept = client.events('kept');
    const watch = client.session('main').watch();
    const stop = watch.subscribe(() => void left.return?.());
    const left = client.events('main', { from: 'snapshot' });
    const link = (await transport.link(0)).connect({
      kept: info(1),
      main: info(1, { epoch: null, head: 0 }),
    });
    expect(watch.getSnapshot().status).to.equal('ready');
    stop();
    link.emit(logged(1));
    expect(await left.next()).to.have.property('done', true);
    await transport.until(() => link.changes.length > 0);
    expect(link.changes).to.deep.equal([{ remove: ['main'] }]);
    await kept.return?.();
  }).timeout(5000);
});
