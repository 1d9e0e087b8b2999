import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { gatewayConnection } from '../../../client/tanstack/index.js';
import { answerIn, speaking } from '../../plugins/ag-ui/tanstack-fixtures.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { SEED } from '../../support/fuzz.js';
import { startGateway } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { closeLater } from '../../support/resources.js';
import { byName } from '../../support/users.js';

const LONG = Array.from({ length: 60 }, (_, at) => `wört${at}`).join(' ');
const CUTS = 30;

it('gatewayConnection has every byte and one run, whichever bytes its client is cut at', async () => {
  const { app, runs } = speaking();
  const { url } = await startGateway({ auth: byName, app });
  const proxy = await CuttingProxy.start(url);
  const random = randomOf(SEED);
  const { ChatClient } = await import('@tanstack/ai-client');
  for (let cut = 0; cut < CUTS; cut++) {
    const client = createClient({ baseUrl: proxy.url, token: 'alice' });
    const connection = gatewayConnection(client, `cut-${cut}`);
    const chat = new ChatClient({ threadId: 'main', connection } as any) as any;
    closeLater(chat, (it: any) => it.dispose());
    closeLater(client, (it) => it.disconnect());
    chat.attach();
    const places = [1000 + Math.floor(random() * 6000), 1000 + Math.floor(random() * 6000)];
    proxy.cuts.push(...places);
    await chat.sendMessage(LONG);
    expect(chat.getError()?.message, `cut at ${places}`).to.equal(undefined);
    expect(answerIn(chat.getMessages()), `cut at ${places}`).to.equal(`${LONG} `);
    expect(runs()).to.equal(cut + 1);
    chat.dispose();
    client.disconnect();
  }
  expect(proxy.cut).to.be.at.least(CUTS);
});
