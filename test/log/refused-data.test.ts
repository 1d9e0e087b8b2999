import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { StoreError } from '../../server/stores/append.js';
import { memoryStore } from '../../server/stores/memory.js';
import { get, post, startGateway } from '../support/gateway.js';
import { passing } from '../support/overriding.js';

const POISON = 'what no store keeps';

/** A store that can never keep a certain word. @param late Whether it says so some turns of the event loop later */
function picky(late: boolean) {
  return passing(memoryStore(), (name, call, args) => {
    const isRefused = name === 'append' && JSON.stringify(args.slice(1)).includes(POISON);
    if (!isRefused) return call();
    const refusal = new StoreError('REFUSED', 'The data is at fault');
    if (!late) throw refusal;
    return new Promise((_, reject) => setImmediate(() => reject(refusal)));
  });
}

/** Says what its message asks for, and whether its signal was aborted. */
const app = defineApp({
  async *run(turn) {
    yield 'before ';
    if (turn.text === 'a call') yield { type: 'tool_use', callId: 'c', name: POISON, input: {} };
    if (turn.text === 'data') turn.data('d', POISON);
    if (turn.text === 'a question')
      await turn.confirm({ name: POISON, input: 1, expiresInMs: 60_000, onExpiry: 'deny' });
    if (turn.text === 'a step') await turn.step(POISON, () => 1);
    yield 'after';
    if (turn.text !== 'nothing')
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
  },
  resumable: true,
});

for (const late of [false, true])
  describe(`data that the store can never keep (${late ? 'said later' : 'said at once'})`, () => {
    for (const what of ['a call', 'data', 'a question', 'a step'])
      it(`ends the run that said it, and nothing else: ${what}`, async () => {
        const { url } = await startGateway({ app, store: picky(late) });
        const failed = await post(`${url}/send`, { sessionId: 'main', message: what });
        const told = failed.body.error ?? failed.body;
        expect(JSON.stringify(told)).to.include('The store cannot keep this');
        expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'idle', queued: 0 });
        expect((await get(`${url}/readyz`)).status).to.equal(200);
        const next = await post(`${url}/send`, { sessionId: 'main', message: 'nothing' });
        expect(next.body).to.include({ stopReason: 'end' });
        expect(next.body.message.content).to.deep.equal([{ type: 'text', text: 'before after' }]);
        const { messages } = (await get(`${url}/history?sessionId=main`)).body;
        expect(messages.map(({ role }: { role: string }) => role)).to.deep.equal([
          'user',
          'assistant',
          'user',
          'assistant',
        ]);
        expect(messages[1].stopReason).to.equal('error');
      });

    it('is refused to the client that brings it', async () => {
      const { url } = await startGateway({ app, store: picky(late) });
      const refused = await post(`${url}/send`, { sessionId: 'main', message: POISON });
      expect([refused.status, refused.body.error?.code]).to.deep.equal([400, 'INVALID_PARAMS']);
      const next = await post(`${url}/send`, { sessionId: 'main', message: 'nothing' });
      expect(next.body).to.include({ stopReason: 'end' });
    });
  });
