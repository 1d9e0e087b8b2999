import { expect } from 'chai';
import { type Application, defineApp, type SessionHandle } from '../../server/index.js';
import { StoreError } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { gate } from '../support/gate.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { codeOf } from '../support/refused.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { storeAt } from '../support/store-at.js';
import { ENGINES } from '../support/stores.js';
import { until } from '../support/until.js';

const SECRET = 'the wrong dose is 4242 mg';

interface StoreKind {
  readonly name: string;
  describe(title: string, tests: () => void): void;
  make(): Promise<Store>;
}

/** Says what it was asked to say. */
const saying: Application = defineApp({
  async *run(turn) {
    yield turn.text.slice(0, 5);
    await new Promise(setImmediate);
    yield turn.text.slice(5);
  },
});

/** A session with three answers, of which the second is wrong. */
async function told(store: Store, app = saying) {
  const target = await startGateway({ app, store });
  const session = target.gateway.session('main');
  const answers: string[] = [];
  for (const text of ['one', SECRET, 'three']) {
    const { message } = await (await session.send(text)).result;
    answers.push(message.id);
  }
  return { ...target, session, answers };
}

/** All that the gateway tells of a session: history, exports, and the events from the beginning, folded. */
async function allOf({ url }: TestGateway, session: SessionHandle) {
  const history = (await session.history()).messages;
  const exported: unknown[] = [];
  for (const what of ['messages', 'events'] as const)
    for await (const item of session.export(what)) exported.push(item);
  const events: GatewayEvent[] = [];
  let state: SessionState = initialState;
  const { head } = await headOf(url);
  for await (const event of connectClient(url).events('main', { from: 'earliest' })) {
    events.push(event);
    state = reduce(state, event);
    if (event.type !== 'gap' && event.cursor === head) break;
  }
  return { history, exported, events, state };
}

async function headOf(url: string): Promise<{ readonly head: string }> {
  const client = connectClient(url);
  for await (const event of client.events('main', { from: 'snapshot' as never }))
    if (event.type === 'snapshot') return { head: event.state.cursor! };
  throw new Error('the events ended');
}

/** Id of the first answer. */
async function answerOf(session: SessionHandle): Promise<string> {
  for await (const event of session.events({ from: 'earliest' }))
    if (event.type === 'message_start') return event.messageId;
  throw new Error('the events ended');
}

const local: readonly StoreKind[] = Object.entries(ENGINES).map(([name, make]) => ({
  name,
  describe: (title, tests) => void describe(title, tests),
  make: async () => make(),
}));
const shared: readonly StoreKind[] = SHARED_STORES.map(({ name, describe: describeShared, start }) => ({
  name,
  describe: (title, tests) => describeShared(title, tests),
  make: async () => storeAt(await start()),
}));

for (const { name, describe: describeStore, make } of [...local, ...shared])
  describeStore(`session.retract (${name})`, () => {
    it('takes a message out of history, exports, replay and the store, and tells every reader', async () => {
      const store = await make();
      const target = await told(store);
      const { session, answers, url, gateway } = target;
      const page = connectClient(url).session('main').watch();
      page.subscribe(() => {});
      await until(() => page.getSnapshot().messages.length === 6);
      expect(JSON.stringify(page.getSnapshot().messages)).to.include(SECRET);
      expect((await session.search('dose')).hits.length).to.equal(2);
      await session.retract(answers[1]!, { by: 'staff', reason: 'a wrong dose' });
      // Its own question says the same.
      const [, , question] = (await session.history()).messages;
      await session.retract(question!.id, { by: 'staff' });
      await until(() => !JSON.stringify(page.getSnapshot().messages).includes(SECRET));
      const { history, exported, events, state } = await allOf(target, session);
      expect(JSON.stringify([history, exported, events, state])).to.not.include(SECRET);
      const wrong = history.find(({ id }) => id === answers[1])!;
      expect((await session.search('dose')).hits).to.deep.equal([]);
      expect(wrong.content).to.deep.equal([]);
      expect(wrong.retracted).to.include({ by: 'staff', reason: 'a wrong dose' });
      expect(history.map(textOf)).to.deep.equal(['one', 'one', '', '', 'three', 'three']);
      expect(state.messages).to.deep.equal(page.getSnapshot().messages);
      const again = await (await session.send('four')).result;
      expect(textOf(again.message)).to.equal('four');
      await gateway.close();
    });

    it('follows a message into the forks of its session', async () => {
      const { session, answers, gateway } = await told(await make());
      await session.fork('copy');
      await gateway.session('copy').fork('copy-of-copy');
      await session.retract(answers[1]!);
      for (const id of ['copy', 'copy-of-copy']) {
        const { messages } = await gateway.session(id).history();
        expect(messages.find((message) => message.id === answers[1])!.content).to.deep.equal([]);
      }
    });

    it('ends the run that writes it', async () => {
      const stands = gate();
      const app = defineApp({
        async *run(turn) {
          yield SECRET;
          stands.open();
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
          yield 'never said';
        },
      });
      const { gateway } = await startGateway({ app, store: await make() });
      const session = gateway.session('main');
      const run = session.send('go');
      await run.accepted;
      await stands.passed;
      await session.retract(await answerOf(session));
      expect((await run.result).stopReason).to.equal('moderated');
      const { messages } = await session.history();
      expect(messages.map(({ content }) => content.length)).to.deep.equal([1, 0]);
    });

    it('knows messages of the session alone', async () => {
      const { session } = await told(await make());
      expect(await codeOf(() => session.retract('nobody'))).to.equal('MESSAGE_NOT_FOUND');
    });

    it('changes nothing where the store does not take it, and is done by another call', async () => {
      const store = await make();
      let fails = true;
      const failing = overriding(store, {
        append: (...args: Parameters<Store['append']>) => {
          if (fails && args[2].rewrites) throw new StoreError('UNAVAILABLE', 'no room');
          return store.append(...args);
        },
      });
      const target = await told(failing);
      const { session, answers } = target;
      const before = await allOf(target, session);
      expect(await codeOf(() => session.retract(answers[1]!))).to.equal('OVERLOADED');
      expect(await allOf(target, session)).to.deep.equal(before);
      fails = false;
      await session.retract(answers[1]!);
      const { exported, events } = await allOf(target, session);
      const ofAnswer = [...exported, ...events].filter((item: any) =>
        /content_delta|message_end/.test(item.type ?? ''),
      );
      expect(JSON.stringify(ofAnswer)).to.not.include(SECRET);
    });

    it('rewrites what its run still said while that was on its way', async () => {
      const store = await make();
      const [stands, goes] = [gate(), gate()];
      const app = defineApp({
        async *run(turn) {
          yield SECRET;
          stands.open();
          await goes.passed;
          yield ` again ${SECRET}`;
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        },
      });
      const late = overriding(store, {
        append: async (...args: Parameters<Store['append']>) => {
          // The append that says so comes behind a piece that nobody had read.
          if (args[2].rewrites) goes.open();
          return store.append(...args);
        },
      });
      const { gateway, url } = await startGateway({ app, store: late });
      const session = gateway.session('main');
      const run = session.send('go');
      await run.accepted;
      await stands.passed;
      const messageId = await answerOf(session);
      await session.retract(messageId);
      await run.result;
      const { exported, events, state } = await allOf({ gateway, url } as TestGateway, session);
      expect(JSON.stringify([exported, events, state])).to.not.include(SECRET);
    });
  });
