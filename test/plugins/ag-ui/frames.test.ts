import { expect } from 'chai';
import fc from 'fast-check';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';
import { newDatabase } from '../../support/durable.js';
import { cases } from '../../support/fuzz.js';
import { FAST } from '../../support/gateway.js';
import { type AgUiGateway, actor, eventsIn, eventsOf, input, STORES, says, startAgUi } from './fixtures.js';

const RUN = '/agent/default';

/** What a client asks for in turn, with what it was told. */
interface Asked {
  readonly body: any;
  readonly text: string;
}

/** Has a conversation, answering whatever is asked; each request has some more readers, who come at once or break off somewhere. */
async function converse(
  ui: AgUiGateway,
  { threadId, text, readers }: { threadId: string; text: string; readers: readonly number[] },
): Promise<Asked[]> {
  const all: Asked[] = [];
  const messages: any[] = [says('u1', text)];
  for (let at = 0, resume: any[] | undefined; at < 20; at++) {
    const body = input(`run-${at}`, [...messages], { threadId, ...(resume && { resume }) });
    const told = ui.post(RUN, body).then((response) => response.text());
    const others = readers.map(async (length) => ({ length, text: await readSome(ui, body, length) }));
    const whole = await told;
    for (const other of await Promise.all(others))
      expect(whole.startsWith(other.text), `${threadId} ${at}`).to.equal(true);
    all.push({ body, text: whole });
    const events = eventsIn(whole);
    const { outcome } = events.at(-1);
    const interrupts = outcome?.type === 'interrupt' ? outcome.interrupts : [];
    const pending = outcome?.pendingToolCallIds ?? [];
    if (interrupts.length === 0 && pending.length === 0) return all;
    resume = interrupts.map(({ id }: any) => ({ interruptId: id, status: 'resolved', payload: true }));
    for (const toolCallId of pending) {
      const call = { id: toolCallId, type: 'function', function: { name: 'x', arguments: '{}' } };
      const { parentMessageId: id } = events.find((event) => event.toolCallId === toolCallId);
      messages.push({ id, role: 'assistant', toolCalls: [call] });
      messages.push({ id: `t-${at}`, role: 'tool', toolCallId, content: 'here' });
    }
  }
  throw new Error('it asks on and on');
}

/** The beginning of a stream, up to a number of bytes at least. */
async function readSome(ui: AgUiGateway, body: unknown, length: number): Promise<string> {
  const response = await ui.post(RUN, body);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < length) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

const scripts = fc
  .array(fc.constantFrom('think', 'look', 'data', 'pay', 'where', 'ask', 'both', 'fail', 'hello', 'bye'), {
    minLength: 1,
    maxLength: 7,
  })
  .map((words) => words.join(' '));
const readers = fc.array(fc.nat(3000), { maxLength: 3 });

describe('the events of a run', () => {
  for (const [store, make] of STORES)
    it(`are the same for every reader, at once and later: ${store}`, async () => {
      const { app } = actor();
      const ui = await startAgUi({ app, store: make(), limits: { ...FAST, connectionsPerUser: 1000 } });
      let threads = 0;
      await fc.assert(
        fc.asyncProperty(scripts, readers, async (text, lengths) => {
          threads += 1;
          const threadId = `thread-${threads}`;
          const all = await converse(ui, { threadId, text, readers: lengths });
          for (const { body, text: told } of all)
            expect(await (await ui.post(RUN, body)).text(), text).to.equal(told);
        }),
        { numRuns: cases(25) },
      );
    });

  it('are the same after a restart on SQLite, and so is what is connected to', async () => {
    const path = newDatabase();
    const { app } = actor();
    const start = () => startAgUi({ app, store: sqliteStore({ path }), limits: FAST });
    const before = await start();
    const told: { readonly all: Asked[]; readonly connected: any[] }[] = [];
    const connected = async (ui: AgUiGateway, threadId: string) =>
      eventsOf(await ui.post(`${RUN}/connect`, input('c', [], { threadId })));
    for (const [at, text] of fc.sample(scripts, { numRuns: cases(8), seed: 1 }).entries()) {
      const all = await converse(before, { threadId: `thread-${at}`, text, readers: [] });
      told.push({ all, connected: await connected(before, `thread-${at}`) });
    }
    await before.gateway.close();
    const after = await start();
    for (const [at, { all, connected: was }] of told.entries()) {
      for (const { body, text } of all) expect(await (await after.post(RUN, body)).text()).to.equal(text);
      expect(await connected(after, `thread-${at}`)).to.deep.equal(was);
    }
  });
});
