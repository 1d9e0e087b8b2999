import { expect } from 'chai';
import { get, post } from '../support/gateway.js';
import { runProgram } from '../support/program.js';
import { until } from '../support/until.js';

describe('a gateway whose heap is nearly full', () => {
  it('refuses new work before it dies, goes on with the rest, and takes work again once there is room', async () => {
    const env = { NODE_OPTIONS: '--max-old-space-size=128' };
    const gateway = runProgram('test/limits/heap-gateway.ts', { env });
    const [, url] = await gateway.prints(/listening at (\S+)/);
    const send = () => post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect((await send()).status).to.equal(200);
    await until(async () => (await post(`${url}/invoke`, { method: 'fill' })).status === 503);
    const refused = await send();
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).to.deep.equal([
      ...[503, 'OVERLOADED', '5'],
    ]);
    const ready = await get(`${url}/readyz`);
    expect(ready.body.error.details).to.deep.equal({ reason: 'memory' });
    expect((await get(`${url}/history?sessionId=main`)).body.messages).to.have.length(2);
    expect(gateway.output).to.match(/new work is refused: \d+% of the heap is used \(limits\.heapShare\)/);
    gateway.child.kill('SIGUSR2');
    await until(async () => (await send()).status === 200);
    expect((await get(`${url}/readyz`)).status).to.equal(200);
    await gateway.kill('SIGKILL');
  });
});
