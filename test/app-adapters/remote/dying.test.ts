import { expect } from 'chai';
import type { SentSlice, SliceExchange } from '../../../server/app-adapters/remote/exchange.js';
import { SliceDied } from '../../../server/app-adapters/remote/fault.js';
import { carriedApp } from '../../../server/app-adapters/remote/remote-app.js';
import { memoryStore } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { heldStore } from '../../support/held-store.js';
import { follow, serve } from '../served.js';
import { SECRET } from './scripted-app.js';

const END = { type: 'end' };
const STEP = { type: 'step', n: 1, name: 'order' };
const DATA = { type: 'data', id: 'd', name: 'chart', value: 1 };
const reasoning = (delta: string): object => ({ type: 'reasoning', delta });
const text = (delta: string): object => ({ type: 'text', delta });
const lines = (...said: readonly object[]): Buffer =>
  Buffer.from(said.map((line) => `${JSON.stringify(line)}\n`).join(''));

/** An app each of whose slices is carried by the next function. */
function carriedBy(...carry: SliceExchange['carry'][]): SliceExchange {
  return { carry: (slice) => carry.shift()!(slice) };
}

async function died({ take }: SentSlice, ...said: readonly object[]): Promise<never> {
  take(lines(...said));
  throw new SliceDied('cut');
}

describe('a slice that dies while its lines are taken', () => {
  it('has all of them taken before the next one begins', async () => {
    const { store, hold, release } = heldStore(memoryStore());
    const said = [text('One '), STEP, { ...STEP, value: 1 }, text('two '), { type: 'title', text: 'A' }];
    let told: unknown;
    const exchange = carriedBy(
      async (slice) => {
        await slice.take(lines(...said.slice(0, 2)));
        // The rest waits until the store has the outcome of the step.
        hold().then(() => setTimeout(release, 300));
        return died(slice, ...said.slice(2), text('three '));
      },
      async ({ body, take }) => {
        told = (JSON.parse(body) as { readonly said: unknown }).said;
        for (const line of [...said, text('three '), text('four'), END]) await take(lines(line));
      },
    );
    const { client } = await serve(carriedApp({ secret: SECRET }, exchange), { store });
    const run = client.send('main', 'Go');
    const seen = await follow(run);
    expect(textOf((await run.result).message)).to.equal('One two three four');
    expect(told).to.deep.equal({ text: 14, reasoning: 0 });
    expect(seen.map(([type]) => type)).to.not.include('message_replaced');
  });

  it('is the last one if its last line came', async () => {
    const exchange = carriedBy((slice) => died(slice, text('One'), STEP, { ...STEP, value: 1 }, END));
    const { client } = await serve(carriedApp({ secret: SECRET }, exchange));
    const { message, stopReason } = await client.send('main', 'Go').result;
    expect([textOf(message), stopReason]).to.deep.equal(['One', 'end']);
  });

  it('is not in vain if its last line came', async () => {
    const exchange = carriedBy(
      (slice) => died(slice),
      (slice) => died(slice, END),
    );
    const { client } = await serve(carriedApp({ secret: SECRET, attempts: 1 }, exchange));
    expect((await client.send('main', 'Go').result).stopReason).to.equal('end');
  });

  for (const [what, before, now, content] of [
    [
      'text behind a part and reasoning',
      [text('It is '), DATA, reasoning('Hm.'), text('raining')],
      [text('It is '), DATA, reasoning('Hm.'), text('sunny')],
      [text('It is '), DATA, reasoning('Hm.'), text('sunny')],
    ],
    [
      'reasoning',
      [text('It is '), reasoning('Hm. '), reasoning('So.'), text('raining')],
      [text('It is '), reasoning('Hm. '), reasoning('No.'), text('sunny')],
      [text('It is '), reasoning('Hm. No.'), text('sunny')],
    ],
    [
      'text in place of a part',
      [text('It is '), DATA, text('raining')],
      [text('It is '), text('sunny')],
      [text('It is sunny')],
    ],
    [
      'text before a part',
      [text('It is '), text('raining'), DATA],
      [text('It is '), text('sunny'), DATA],
      [text('It is sunny'), DATA],
    ],
    [
      'text, though it says a part before it that came behind it',
      [text('It is '), text('raining'), DATA],
      [DATA, text('It is '), text('sunny')],
      [DATA, text('It is sunny')],
    ],
  ] as const)
    it(`has taken back what the next one says otherwise: ${what}`, async () => {
      const exchange = carriedBy(
        (slice) => died(slice, ...before),
        async ({ take }) => take(lines(...now, END)),
      );
      const { client } = await serve(carriedApp({ secret: SECRET }, exchange));
      const { message } = await client.send('main', 'Go').result;
      expect(message.content).to.deep.equal(
        content.map(({ delta, ...part }: any) => (delta === undefined ? part : { ...part, text: delta })),
      );
    });
});
