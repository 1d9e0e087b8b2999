import { expect } from 'chai';
import { defineApp, type SessionHandle } from '../../server/index.js';
import { StoreError } from '../../server/stores/append.js';
import { memoryStore } from '../../server/stores/memory.js';
import { type Message, textOf } from '../../shared/messages.js';
import { gate } from '../support/gate.js';
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

/** Open once the app only waits for its end. */
let waiting = gate();

/** Says what its message asks for, and whether its signal was aborted. */
const app = defineApp({
  async *run(turn) {
    yield 'before ';
    if (turn.text === 'a call') yield { type: 'tool_use', callId: 'c', name: POISON, input: {} };
    if (turn.text === 'data') turn.data('d', POISON);
    if (turn.text === 'a question')
      await turn.confirm({ name: POISON, input: 1, expiresInMs: 60_000, onExpiry: 'deny' });
    if (turn.text === 'a step') await turn.step(POISON, () => 1);
    if (turn.text.includes('note')) turn.annotate({ note: POISON });
    if (turn.text === 'pieces')
      for (const piece of [POISON.slice(0, 9), POISON.slice(9)]) {
        yield piece;
        await new Promise(setImmediate);
      }
    if (turn.text === 'a hand-off') turn.handOff({ reason: POISON });
    yield 'after';
    if (['nothing', 'note', 'pieces'].includes(turn.text)) return;
    waiting.open();
    await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
  },
  resumable: true,
});

/** All that ends a run that would go on. */
const ENDS: Record<string, (session: SessionHandle) => Promise<unknown>> = {
  'an abort': (session) => session.abort(),
  'a message that interrupts': (session) => session.send('nothing', { onBusy: 'interrupt' }).result,
  'a close': (session) => session.close(),
};

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

    for (const [what, text] of [
      ['note', 'before after'],
      ['pieces', ''],
      ['a hand-off', 'before '],
    ])
      it(`ends the run whose end has it as an error, and the next one begins: ${what}`, async () => {
        const { url } = await startGateway({ app, store: picky(late) });
        const [failed, next] = await Promise.all(
          [what, 'nothing'].map((message) => post(`${url}/send`, { sessionId: 'main', message })),
        );
        const told = JSON.stringify({ code: 'INVALID_PARAMS', message: 'The store cannot keep this' });
        expect(JSON.stringify(failed!.body)).to.include(told.slice(1, -1));
        expect(next!.body).to.include({ stopReason: 'end' });
        const { messages } = (await get(`${url}/history?sessionId=main`)).body;
        const answers = (messages as Message[]).filter(({ role }) => role === 'assistant');
        expect(answers.map((answer) => [answer.stopReason, textOf(answer)])).to.deep.equal([
          ['error', text],
          ['end', 'before after'],
        ]);
        expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'idle', queued: 0 });
      });

    for (const [what, ends] of Object.entries(ENDS))
      it(`does not keep a run from its end by ${what}`, async () => {
        const { gateway } = await startGateway({ app, store: picky(late) });
        const session = gateway.session('main', { anonymous: true });
        waiting = gate();
        const run = session.send('a note');
        await waiting.passed;
        await ends(session);
        const ended = await run.result.catch((error: unknown) => error);
        expect(ended).to.include({ stopReason: 'error' });
        expect(JSON.stringify(ended)).to.not.include(POISON);
      });

    it('is refused to the client that brings it, and interrupts nothing', async () => {
      const { gateway } = await startGateway({ app, store: picky(late) });
      const session = gateway.session('main', { anonymous: true });
      waiting = gate();
      const run = session.send('waits');
      await waiting.passed;
      const refused = session.send(POISON, { onBusy: 'interrupt' }).accepted;
      expect(await refused.then(String, ({ code }) => code)).to.equal('INVALID_PARAMS');
      await session.abort();
      expect(await run.result).to.include({ stopReason: 'aborted' });
    });

    it('is refused to the client that brings it', async () => {
      const { url } = await startGateway({ app, store: picky(late) });
      const refused = await post(`${url}/send`, { sessionId: 'main', message: POISON });
      expect([refused.status, refused.body.error?.code]).to.deep.equal([400, 'INVALID_PARAMS']);
      const next = await post(`${url}/send`, { sessionId: 'main', message: 'nothing' });
      expect(next.body).to.include({ stopReason: 'end' });
    });
  });
