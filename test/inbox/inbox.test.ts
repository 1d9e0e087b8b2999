import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { connectClient } from '../support/client.js';
import { get, post, startGateway } from '../support/gateway.js';

const app = defineApp({
  async *run(turn) {
    if (turn.text === 'ask') yield String(await turn.ask({ name: 'sure' }));
    yield `heard ${turn.text}`;
  },
});

async function begin() {
  const { url } = await startGateway({ app });
  const client = connectClient(url);
  const inbox = async () => (await get(`${url}/inbox`)).body;
  return { url, client, inbox };
}

describe('inbox', () => {
  it('counts', async () => {
    const { url, client, inbox } = await begin();
    await client.send('main', 'one').result;
    console.log(JSON.stringify(await inbox()));
    const r = await post(`${url}/read`, { sessionId: 'main' });
    console.log(r.status, r.body);
    console.log(JSON.stringify(await inbox()));
    expect(1).to.equal(1);
  });
});
