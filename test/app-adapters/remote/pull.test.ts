import { expect } from 'chai';
import {
  type PullOptions,
  pulledApp,
  pullWork,
  type ServedApp,
  workPlugin,
} from '../../../server/app-adapters/remote/index.js';
import { signatureOf } from '../../../server/runtime/signature.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { SECRET } from './scripted-app.js';

async function gatewayWithWork() {
  const gpu = pulledApp({ secret: SECRET, name: 'gpu' });
  const started = await startGateway({ app: gpu });
  started.gateway.use(workPlugin({ gpu }));
  const pulling = (app: ServedApp, options: Partial<PullOptions> = {}) =>
    closeLater(pullWork(app, { url: `${started.url}/work`, name: 'gpu', secret: SECRET, ...options }), (it) =>
      it.close(),
    );
  return { ...started, client: connectClient(started.url), pulling };
}

const signed = (secret = SECRET, timestamp = Math.floor(Date.now() / 1000)) => ({
  ...{ 'webhook-id': 'x', 'webhook-timestamp': `${timestamp}` },
  'webhook-signature': signatureOf({ id: 'x', timestamp, body: '' }, secret),
});

describe('work that processes ask for', () => {
  it('is given to one of them, slice by slice', async () => {
    const { client, pulling } = await gatewayWithWork();
    const done: string[] = [];
    const app: ServedApp = {
      async *run(turn) {
        yield `${await turn.step('one', () => done.push(turn.text))} `;
        yield String(await turn.ask({ name: 'day' }));
      },
    };
    const runs = ['a', 'b', 'c'].map((name) => client.send(name, name));
    pulling(app, { atOnce: 2 });
    pulling(app, { atOnce: 2 });
    for (const run of runs) {
      for await (const event of run)
        if (event.type === 'input_required')
          await client.session(event.sessionId).respond(event.callId, { output: 'Monday' });
      expect(textOf((await run.result).message)).to.match(/^\d Monday$/);
    }
    expect(done.sort()).to.deep.equal(['a', 'b', 'c']);
  });

  it('goes to another one when its process leaves', async () => {
    const { client, pulling } = await gatewayWithWork();
    const run = client.send('main', 'Go');
    let began!: () => void;
    const begun = new Promise<void>((resolve) => {
      began = resolve;
    });
    const first = pulling({
      async *run() {
        yield 'Half ';
        began();
        await new Promise(() => {});
      },
    });
    await begun;
    await run.text[Symbol.asyncIterator]().next();
    await first.close();
    pulling({
      async *run() {
        yield 'Half ';
        yield 'and half';
      },
    });
    expect(textOf((await run.result).message)).to.equal('Half and half');
  });

  it('tells of a fault, and of a slice that is over', async () => {
    const { client, url } = await gatewayWithWork();
    const run = client.send('main', 'Go');
    const taken = await fetch(`${url}/work?app=gpu`, { headers: signed() });
    const { id } = (await taken.json()) as { readonly id: string };
    const reply = (lines: string): Promise<Response> =>
      fetch(`${url}/work/${id}?app=gpu`, { method: 'POST', headers: signed(), body: lines });
    const refused = await reply('{"type":"text","delta":"Hi"}\n{"type":"shout"}\n');
    expect(refused.status).to.equal(400);
    expect(await refused.json()).to.have.nested.property('error.code', 'APP_REPLY_INVALID');
    expect((await run.result).error?.message).to.match(/^Line 2 .* type:/);
    expect((await reply('{"type":"end"}\n')).status).to.equal(404);
  });

  it('is given to those alone who have the secret, and none is made up', async () => {
    const { url } = await gatewayWithWork();
    const ask = async (query: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(`${url}/work${query}`, { headers })).status;
    expect(await ask('?app=gpu&waitMs=0', signed())).to.equal(204);
    expect(await ask('?app=gpu&waitMs=5', signed())).to.equal(204);
    expect(await ask('?app=gpu&waitMs=x', signed())).to.equal(400);
    expect(await ask('?app=gpu&waitMs=70000', signed())).to.equal(400);
    expect(await ask('?app=other', signed())).to.equal(401);
    expect(await ask('?app=gpu', {})).to.equal(401);
    expect(await ask('?app=gpu', signed(Buffer.alloc(32, 'x').toString('base64')))).to.equal(401);
    expect(await ask('?app=gpu', signed(SECRET, 1_000_000))).to.equal(401);
    expect(() => workPlugin({ x: { run: () => 'x' } })).to.throw('apps.x: must be an app of pulledApp');
    expect(() => workPlugin({}, { path: 'x' })).to.throw('path: ');
  });
});
