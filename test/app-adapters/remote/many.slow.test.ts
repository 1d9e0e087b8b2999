import { expect } from 'chai';
import { remoteApp, serveApp } from '../../../server/app-adapters/remote/index.js';
import { textOf } from '../../../shared/messages.js';
import { startGateway } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { SECRET } from './killed-secret.js';

const MANY = 1_000;

describe('1,000 slices at once', () => {
  it('are all under way together, and each is answered', async function () {
    this.timeout(120_000);
    let begun = 0;
    let open!: () => void;
    const all = new Promise<void>((resolve) => {
      open = resolve;
    });
    const server = await serveApp(
      {
        async *run(turn) {
          yield 'You ';
          begun += 1;
          if (begun === MANY) open();
          await all;
          yield `said ${turn.text}`;
        },
      },
      { secret: SECRET },
    );
    closeLater(server, (it) => it.close());
    const { gateway } = await startGateway({ app: remoteApp({ url: server.url, secret: SECRET }) });
    const results = await Promise.all(
      Array.from(
        { length: MANY },
        (_, at) => gateway.session('main', { user: { id: `user${at}` } }).send(`${at}`).result,
      ),
    );
    expect(results.map(({ message }) => textOf(message))).to.deep.equal(
      Array.from({ length: MANY }, (_, at) => `You said ${at}`),
    );
    expect(begun).to.equal(MANY);
  });
});
