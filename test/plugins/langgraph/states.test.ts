import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { historyIn, stateIn } from '../../../server/plugins/langgraph/states.js';
import type { Thread } from '../../../server/plugins/langgraph/threads.js';
import { initialState } from '../../../shared/fold.js';
import type { Message } from '../../../shared/messages.js';
import { human, SDKS, startLangGraph } from './fixtures.js';

/** A thread whose messages count how often their texts are read. */
function counted(length: number) {
  let reads = 0;
  const messages = Array.from({ length }, (_, at): Message => {
    const block = { type: 'text' as const, text: '' };
    Object.defineProperty(block, 'text', {
      enumerable: true,
      get: () => {
        reads += 1;
        return `text ${at}`;
      },
    });
    const role = at % 2 === 0 ? ('user' as const) : ('assistant' as const);
    return {
      id: `m${at}`,
      parentId: at === 0 ? null : `m${at - 1}`,
      role,
      content: [block],
      createdAt: at + 1,
    };
  });
  const state = { ...initialState, messages, messageCount: length };
  return { thread: { id: 'main', app: 'default', state } as unknown as Thread, reads: () => reads };
}

describe('the history of a thread', () => {
  it('writes each message once, however many states repeat it', () => {
    const { thread, reads } = counted(200);
    const states = [...historyIn(thread, { limit: 40 })];
    expect(states).to.have.length(40);
    // One state says its questions too, and is made by itself.
    expect(reads()).to.be.at.most(2 * 200);
  });

  it('has what each state was', async () => {
    const { thread } = counted(7);
    const states = [...historyIn(thread, { limit: 4 })].map((text) => JSON.parse(text));
    const messages = states.map(({ values }) => values.messages.map(({ id }: any) => id));
    expect(messages).to.deep.equal(
      [7, 6, 5, 4].map((count) => Array.from({ length: count }, (_, at) => `m${at}`)),
    );
    expect(states[0]).to.deep.equal(JSON.parse(JSON.stringify(stateIn(thread))));
    expect(Object.keys(states[1]).sort()).to.deep.equal(Object.keys(states[0]).sort());
    const before = states[1].checkpoint.checkpoint_id;
    const [next] = [...historyIn(thread, { limit: 1, before })].map((text) => JSON.parse(text));
    expect(next).to.deep.equal(states[2]);
    const [same] = [...historyIn(thread, { limit: 1, at: before })].map((text) => JSON.parse(text));
    expect(same).to.deep.equal(states[1]);
  });

  it('lets others be answered between two states', async () => {
    const ui = await startLangGraph({ app: defineApp({ run: async ({ text }) => `said ${text}` }) });
    const long = 'x'.repeat(10_000);
    const messages = Array.from({ length: 300 }, (_, at) => ({
      content: `${at} ${long}`,
      role: at % 2 === 0 ? 'user' : 'assistant',
    }));
    await ui.gateway.import('main', messages, { user: { id: 'alice' } });
    let turns = 0;
    let open = true;
    const turn = (): void => {
      turns += 1;
      if (open) setImmediate(turn);
    };
    const client = ui.client(SDKS[1]!);
    await client.runs.wait('main', 'default', { input: human('now') });
    const before = (await (await ui.post('/threads/main/history', { limit: 1 })).text()).length;
    setImmediate(turn);
    const response = await ui.post('/threads/main/history', { limit: 10 });
    const text = await response.text();
    open = false;
    expect(JSON.parse(text)).to.have.length(10);
    expect(text.length).to.be.above(9 * before);
    expect(turns).to.be.above(10);
  });
});
