import { expect } from 'chai';
import { channels } from '../../../server/diagnostics/index.js';
import { defineApp } from '../../../server/index.js';
import { FAST } from '../../support/gateway.js';
import { hear } from '../../support/tracing.js';
import { human, SDKS, startLangGraph } from './fixtures.js';

const [, sdk] = SDKS;
/** Messages of a conversation that is longer than a state says. */
const LENGTH = 1100;

describe('a thread that is long', () => {
  it('is read for what says all of it, and not for commands, lists and stops', async () => {
    const app = defineApp({ run: async ({ text }) => `said ${text}` });
    const limits = { ...FAST, importedMessages: 2000 };
    const ui = await startLangGraph({ app, limits });
    const operations = hear(channels.operation);
    const messages = Array.from({ length: LENGTH }, (_, at) => ({
      id: `m${at}`,
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `text ${at}`,
    }));
    await ui.gateway.import('main', messages, { user: { id: 'alice' } });
    /** Pages of the history that are read meanwhile. */
    const pagesOf = async (work: Promise<unknown>): Promise<number> => {
      const before = operations.all.length;
      await work;
      return operations.all.slice(before).filter(({ message }) => message.operation === 'history').length;
    };
    const client = ui.client(sdk!);
    const { threads, runs } = client;
    const wait = (content: string, id: string, more = {}) =>
      runs.wait('main', 'default', { input: human(content, id), ...more });
    const command = async (text: string, id: string, more = {}) => {
      const params = { assistant_id: 'default', input: human(text, id), ...more };
      const answer = await (
        await ui.post('/threads/main/commands', { id: 1, method: 'run.start', params })
      ).json();
      expect(answer.type).to.equal('success');
      await ui.gateway.session('main', { user: { id: 'alice' } }).run(answer.result.run_id).result;
    };
    expect(await pagesOf(command('one', 'a1'))).to.equal(0);
    expect(await pagesOf(command('one', 'a1'))).to.equal(0);
    expect(await pagesOf(threads.search())).to.equal(0);
    expect(await pagesOf(threads.get('main'))).to.equal(0);
    expect(await pagesOf(runs.list('main', { status: 'pending' }))).to.equal(0);
    const state = await threads.getState('main');
    expect(state.values.messages).to.have.length(1000);
    expect(state.values.messages.at(-1).content).to.equal('said one');
    const history = await threads.getHistory('main', { limit: 1000 });
    expect(history.length).to.be.within(10, 20);
    const [next] = await threads.getHistory('main', { limit: 1, before: history.at(-1).checkpoint });
    expect(next.values.messages).to.have.length(history.at(-1).values.messages.length - 1);
    const { checkpoint } = history.at(5);
    const one = await threads.getState('main', checkpoint);
    expect(one.checkpoint).to.deep.equal(checkpoint);
    expect(one.values.messages).to.have.length(995);
    const values = await wait('two', 'a2');
    expect(values.messages.at(-1).content).to.equal('said two');
    // A message from far back is found by its id, and is a version of it.
    await command('changed', 'm900');
    const { values: now } = await threads.getState('main');
    expect(now.messages.slice(-2).map(({ content }: any) => content)).to.deep.equal([
      'changed',
      'said changed',
    ]);
    expect(now.messages.at(-3).id).to.equal('m899');
  });
});
