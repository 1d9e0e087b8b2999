import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { collect, connectClient } from '../support/client.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';

describe('a run of a client', () => {
  it('starts once when the answer to its send is lost, again and again', async () => {
    const { url, gateway } = await startGateway({ app: echo });
    const started = new Hearing(gateway, 'run:started');
    const proxy = await CuttingProxy.start(url);
    proxy.cuts.push(1, 1, 1);
    const run = connectClient(proxy.url).send('main', 'hello');
    expect((await collect(run.text)).join('')).to.equal('echo: hello');
    expect(proxy.cut).to.equal(3);
    expect(started.heard).to.have.length(1);
  });
});
