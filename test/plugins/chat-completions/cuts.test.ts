import { expect } from 'chai';
import { gate } from '../../support/gate.js';
import { Hearing } from '../../support/hearing.js';
import { FrameProxy } from '../frame-proxy.js';
import { STORES } from '../ui-message-stream/fixtures.js';
import { runs, says, startChat } from './fixtures.js';

const PIECES = ['one ', 'two ', 'three '];
/** The role, and the pieces; what comes then is the end. */
const FRAMES = 1 + PIECES.length;

describe('a completion whose stream is cut off', () => {
  for (const [store, make] of STORES)
    for (const clean of [false, true])
      it(`is over where it was ${clean ? 'ended' : 'cut'}, and asked for anew is another: ${store}`, async () => {
        let whole = gate();
        const app = runs(async function* ({ signal }) {
          yield* PIECES;
          const left = new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          });
          await Promise.race([whole.passed, left]);
          yield 'end';
        });
        const chat = await startChat({ app, store: make() });
        const proxy = await FrameProxy.start(chat.url);
        const client = chat.client('alice', { baseURL: `${proxy.url}/v1`, maxRetries: 0 });
        const ended = new Hearing(chat.gateway, 'run:ended');
        const read = async (id: string) => {
          const told = { text: '', finish: null as string | null, error: null as unknown };
          const headers = { 'x-session-id': id };
          try {
            const stream = await client.chat.completions.create(says('hello', { stream: true }), { headers });
            for await (const { choices } of stream as any) {
              told.text += choices[0]?.delta.content ?? '';
              told.finish = choices[0]?.finish_reason ?? told.finish;
            }
          } catch (error) {
            told.error = error;
          }
          return told;
        };
        for (let after = 0; after <= FRAMES; after++) {
          const id = `session-${after}`;
          proxy.cuts.push({ after, clean });
          const cut = await read(id);
          // No server can help: the client takes a clean end for the whole, but for its reason, which is missing.
          expect(cut.finish).to.equal(null);
          expect(cut.text).to.equal(PIECES.slice(0, Math.max(0, after - 1)).join(''));
          if (clean) expect(cut.error).to.equal(null);
          else expect(cut.error).to.be.instanceOf(Error);
          // Its reader is gone, so the run is over, and there is nothing to come back to.
          expect((await ended.nth(2 * after + 1)).stopReason).to.equal('aborted');
          whole.open();
          const again = await read(id);
          expect(again).to.deep.equal({ text: `${PIECES.join('')}end`, finish: 'stop', error: null });
          expect((await ended.nth(2 * after + 2)).stopReason).to.equal('end');
          whole = gate();
        }
        expect(proxy.ended).to.equal(FRAMES + 1);
      });
});
