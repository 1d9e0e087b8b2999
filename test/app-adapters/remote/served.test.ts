import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type RemoteAppOptions,
  remoteApp,
  type ServedApp,
  serveApp,
} from '../../../server/app-adapters/remote/index.js';
import type { Slice } from '../../../server/app-adapters/remote/lines.js';
import { textOf } from '../../../shared/messages.js';
import { closeLater } from '../../support/resources.js';
import { tempDir } from '../../support/temp-dir.js';
import { type Served, serve } from '../served.js';
import { SECRET } from './scripted-app.js';

/** An app in a server of its own behind a gateway. */
async function apart(
  app: ServedApp,
  { path, ...options }: Partial<RemoteAppOptions> & { readonly path?: string } = {},
): Promise<Served> {
  const place = path === undefined ? {} : { path };
  const server = closeLater(await serveApp(app, { secret: SECRET, ...place, onError: () => {} }), (it) =>
    it.close(),
  );
  return serve(remoteApp({ url: server.url, secret: SECRET, ...options }));
}

describe('serveApp', () => {
  it('serves an app over a Unix socket', async () => {
    const path = join(tempDir(), 'app.sock');
    const { client } = await apart({ run: ({ text }) => `You said: ${text}` }, { path });
    expect(existsSync(path)).to.equal(true);
    expect(textOf((await client.send('main', 'Hello').result).message)).to.equal('You said: Hello');
  });

  it('asks people, and does each step once over all slices', async () => {
    const done: string[] = [];
    const keys: string[] = [];
    let slices = 0;
    const { client } = await apart({
      async *run(turn) {
        slices += 1;
        const order = await turn.step('order', ({ key }) => {
          keys.push(key);
          done.push('order');
          return { id: 7 };
        });
        yield `Order ${order.id}. `;
        const [day] = await Promise.all([turn.ask({ name: 'day' }), turn.sleep('rest', 1)]);
        await turn.step('charge', () => done.push('charge'));
        yield `For ${String(day)}.`;
        return { stopReason: 'end' };
      },
    });
    const run = client.send('main', 'Go');
    let runId: string | undefined;
    for await (const event of run) {
      if ('runId' in event) runId ??= event.runId;
      if (event.type !== 'input_required') continue;
      await client.session('main').respond(event.callId, { output: 'Monday' });
    }
    const { message } = await run.result;
    expect(textOf(message)).to.equal('Order 7. For Monday.');
    expect(done).to.deep.equal(['order', 'charge']);
    expect(keys).to.deep.equal([`${runId}-1`]);
    expect(slices).to.be.within(2, 3);
  });

  it('goes on by another slice when its time is nearly up', async () => {
    let slices = 0;
    const { client } = await apart(
      {
        async *run(turn) {
          slices += 1;
          for (let at = 0; at < 4; at++)
            yield await turn.step(
              `s${at}`,
              () => new Promise<string>((resolve) => setTimeout(() => resolve(`${at} `), 20)),
            );
        },
      },
      { sliceMs: 25 },
    );
    expect(textOf((await client.send('main', 'Go').result).message)).to.equal('0 1 2 3 ');
    expect(slices).to.be.above(1);
  });

  it('tells an app of the end of its slice, and takes nothing more from it', async () => {
    let turned: { readonly signal: AbortSignal } | undefined;
    const { client } = await apart({
      async *run(turn) {
        turned = turn;
        yield 'a';
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        yield 'b';
      },
    });
    const run = client.send('main', 'Go');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    expect(textOf((await run.result).message)).to.equal('a');
    while (!turned!.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  });

  it('refuses what is no slice', async () => {
    const server = closeLater(await serveApp({ run: () => 'x' }, { secret: SECRET }), (it) => it.close());
    expect((await fetch(server.url)).status).to.equal(405);
    const { status } = await fetch(server.url, {
      method: 'POST',
      body: JSON.stringify({} satisfies Partial<Slice>),
    });
    expect(status).to.equal(401);
  });

  it('is written to as fast as its reader reads', async () => {
    const piece = 'x'.repeat(1000);
    let said = 0;
    const { client } = await apart({
      async *run() {
        for (; said < 2_000; said++) yield piece;
      },
    });
    expect(textOf((await client.send('main', 'Go').result).message).length).to.equal(2_000_000);
  });
});
