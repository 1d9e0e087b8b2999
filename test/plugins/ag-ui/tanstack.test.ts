import { expect } from 'chai';
import type { defineApp } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { halting, TWO_HALTED } from '../../support/apps.js';
import type { Gate } from '../../support/gate.js';
import { FAST } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { as } from '../../support/users.js';
import { actor, input, STORES, says, startAgUi } from './fixtures.js';
import { answerIn, cuttingFetch, shown, speaking, type TanStackInit, tanstack } from './tanstack-fixtures.js';

const KINDS = STORES.flatMap(([store, make]) =>
  ['requests', 'a WebSocket'].map((by) => [store, make, by] as const),
);

/** A page that was told the first half of an answer. */
async function halfway(open: () => ReturnType<typeof tanstack>, began: Gate) {
  const client = await open();
  const sent = client.sendMessage('one');
  await began.passed;
  await until(() => answerIn(client.getMessages()) === 'one begins ');
  return { client, sent };
}

for (const [store, make, by] of KINDS)
  describe(`TanStack AI by ${by} on ${store}`, () => {
    const isSocket = by === 'a WebSocket';
    const start = async (app: ReturnType<typeof defineApp>) => {
      const ui = await startAgUi({ app, store: make(), limits: FAST });
      const address = isSocket && { socketAt: ui.url };
      const open = (init: Partial<TanStackInit> = {}) => tanstack({ base: ui.base, ...address, ...init });
      const session = ui.gateway.session('main', { user: { id: 'alice' } });
      const history = async () =>
        (await session.history()).messages.map((message) => `${message.role}: ${textOf(message).trim()}`);
      return { ...ui, open, session, history };
    };
    /** A page that was opened again: it knows nothing but its thread. */
    const PAGE = { persistence: true };

    it('has what was said when its page is opened again, as it was told', async () => {
      const { app } = actor();
      const { open } = await start(app);
      const client = await open();
      await client.sendMessage('think hello look bye');
      await client.sendMessage('fail data end');
      const again = await open(PAGE);
      await until(() => again.getMessages().length > 0);
      expect(shown(again.getMessages())).to.deep.equal(shown(client.getMessages()));
      await again.sendMessage('more');
      expect(answerIn(again.getMessages())).to.equal('more ');
      expect(shown(again.getMessages().slice(0, -2))).to.deep.equal(shown(client.getMessages()));
    });

    it('joins an answer that is under way: reloaded, and in a second tab', async () => {
      const { app, began, held, runs } = halting();
      const { open, history } = await start(app);
      const client = await open();
      const sent = client.sendMessage('one');
      await began.passed;
      const tabs = [await open(PAGE), await open(PAGE)];
      await until(() => tabs.every((tab) => answerIn(tab.getMessages()) === 'one begins '));
      client.dispose();
      await sent;
      held.open();
      await until(() => tabs.every((tab) => tab.getStatus() === 'ready'));
      for (const tab of tabs) {
        expect(answerIn(tab.getMessages())).to.equal('one begins and ends');
        expect(tab.getMessages().map(({ role }) => role)).to.deep.equal(['user', 'assistant']);
      }
      expect(runs()).to.equal(1);
      expect(await history()).to.deep.equal(['user: one', 'assistant: one begins and ends']);
    });

    it('joins by the id of its own run, which a page keeps that stores its messages itself', async () => {
      const { app, began, held, runs } = halting();
      const { open } = await start(app);
      const stored = new Map<string, any>();
      const persistence = {
        getItem: (key: string) => stored.get(key),
        setItem: (key: string, value: unknown) => void stored.set(key, structuredClone(value)),
        removeItem: (key: string) => void stored.delete(key),
      };
      const client = await open({ persistence });
      void client.sendMessage('one');
      await began.passed;
      await until(() => answerIn(client.getMessages()) === 'one begins ');
      client.dispose();
      const again = await open({ persistence });
      await until(() => answerIn(again.getMessages()) === 'one begins ');
      held.open();
      await until(() => answerIn(again.getMessages()) === 'one begins and ends');
      expect(runs()).to.equal(1);
    });

    it('queues what two tabs say at once, each answered once', async () => {
      const { app, began, held, runs } = halting();
      const { open, history, session } = await start(app);
      const [first, second] = [await open(), await open()];
      const one = first.sendMessage('one');
      await began.passed;
      const two = second.sendMessage('two');
      await until(async () => (await session.status()).queued === 1);
      held.open();
      await Promise.all([one, two]);
      expect(answerIn(first.getMessages())).to.equal('one begins and ends');
      expect(answerIn(second.getMessages())).to.equal('two begins and ends');
      expect(runs()).to.equal(2);
      expect(await history()).to.deep.equal(TWO_HALTED);
    });

    for (const approved of [true, false])
      for (const reopened of [false, true])
        it(`${approved ? 'approves' : 'denies'}${reopened ? ' in a page that was opened again' : ''}`, async () => {
          const { app, effects } = actor();
          const { open, history } = await start(app);
          const client = await open();
          await client.sendMessage('before pay after');
          const page = reopened ? await open(PAGE) : client;
          await until(() => page.getInterrupts().length === 1);
          const [asked] = page.getInterrupts();
          expect(asked).to.deep.include({ kind: 'generic', canResolve: true });
          expect(answerIn(page.getMessages())).to.equal('before ');
          expect(effects).to.deep.equal([]);
          asked.resolveInterrupt({ approved });
          await until(() => answerIn(page.getMessages()).endsWith('after ') && page.getStatus() === 'ready');
          expect(effects).to.deep.equal(approved ? ['pay'] : []);
          expect(page.getInterrupts()).to.deep.equal([]);
          expect(await history()).to.have.length(2);
          await page.sendMessage('thanks');
          await until(() => answerIn(page.getMessages()) === 'thanks ');
        });

    it('counts one of two answers to a question', async () => {
      const { app, effects } = actor();
      const { open } = await start(app);
      const client = await open();
      await client.sendMessage('pay after');
      const other = await open(PAGE);
      await until(() => other.getInterrupts().length === 1);
      client.getInterrupts()[0].resolveInterrupt({ approved: true });
      other.getInterrupts()[0].resolveInterrupt({ approved: true });
      await until(() => [client, other].every((page) => answerIn(page.getMessages()).endsWith('after ')));
      expect(effects).to.deep.equal(['pay']);
    });

    it('runs a tool of its own where it is told to, once', async () => {
      const { app } = actor();
      const { open, history } = await start(app);
      const ran: unknown[] = [];
      const execute = async (input: unknown) => {
        ran.push(input);
        return { at: 'home' };
      };
      const client = await open({
        tools: [{ name: 'where', description: 'Where', __toolSide: 'client', execute }],
      });
      await client.sendMessage('where bye');
      await until(() => answerIn(client.getMessages()).endsWith('bye '));
      expect(ran).to.deep.equal([{ n: 1 }]);
      expect(answerIn(client.getMessages())).to.include('home');
      expect(await history()).to.have.length(2);
    });

    it('is stopped by a request of its page: who leaves it ends nothing', async () => {
      const { app, began, runs } = halting();
      const { open, ask, session, history } = await start(app);
      const { client, sent } = await halfway(open, began);
      client.stop();
      await sent;
      const headers = { 'content-type': 'application/json' };
      expect((await session.status()).status).to.equal('running');
      await (await ask('/agent/default/stop/main', { method: 'POST', headers, body: '{}' })).text();
      await until(async () => (await session.status()).status === 'idle');
      expect(await history()).to.deep.equal(['user: one', 'assistant: one begins']);
      expect(runs()).to.equal(1);
    });

    it('ends as it is for the page that stops it, without an error', async () => {
      const { app, began } = halting();
      const { open, ask } = await start(app);
      const { client, sent } = await halfway(open, began);
      const headers = { 'content-type': 'application/json' };
      await (await ask('/agent/default/stop/main', { method: 'POST', headers, body: '{}' })).text();
      await sent;
      expect([client.getStatus(), client.getError()]).to.deep.equal(['ready', undefined]);
      expect(answerIn(client.getMessages())).to.equal('one begins ');
    });

    it('edits by the id of a message, and answers again', async () => {
      const { app } = speaking();
      const { open, history } = await start(app);
      const client = await open();
      await client.sendMessage('one');
      await client.sendMessage('two');
      const { id } = client.getMessages()[2];
      client.setMessagesManually(client.getMessages().slice(0, 2));
      await client.sendMessage({ content: 'three', id });
      expect(answerIn(client.getMessages())).to.equal('three ');
      expect(await history()).to.deep.equal([
        'user: one',
        'assistant: one',
        'user: three',
        'assistant: three',
      ]);
      const former = client.getMessages().at(-1).id;
      await client.reload();
      expect(answerIn(client.getMessages())).to.equal('three ');
      expect(client.getMessages().at(-1).id).not.to.equal(former);
      expect(await history()).to.have.length(4);
    });

    it('is one more message at the end, edited under a new id: the session is the truth', async () => {
      const { app } = speaking();
      const { open, history } = await start(app);
      const client = await open();
      await client.sendMessage('one');
      client.setMessagesManually([]);
      await client.sendMessage('two');
      expect(await history()).to.deep.equal(['user: one', 'assistant: one', 'user: two', 'assistant: two']);
    });

    if (isSocket) {
      it('hears on the same socket of one run alone, once it has left another', async () => {
        const { app, began, held } = halting();
        const { open, history, session } = await start(app);
        const { client, sent } = await halfway(open, began);
        client.stop();
        await sent;
        const next = client.sendMessage('two');
        await until(async () => (await session.status()).queued === 1);
        held.open();
        await next;
        expect(answerIn(client.getMessages())).to.equal('two begins and ends');
        expect((await history()).slice(1)).to.deep.equal([
          'assistant: one begins and ends',
          'user: two',
          'assistant: two begins and ends',
        ]);
      });

      it('is told what is wrong with what it says', async () => {
        const { app } = speaking();
        const { open } = await start(app);
        const client = await open({ threadId: 'x'.repeat(400) });
        await client.sendMessage('one');
        expect(client.getError()?.message).to.match(/threadId: must be/);
      });
      return;
    }

    it('joins the run of its message, where it heard nothing of it and that goes on', async () => {
      const { app, began, held, runs } = halting();
      const { open } = await start(app);
      const cutting = cuttingFetch([0]);
      const client = await open({ fetchClient: cutting.fetch });
      await client.sendMessage({ id: 'u1', content: 'one' });
      expect(client.getError()).to.be.instanceOf(Error);
      expect(cutting.cuts()).to.equal(1);
      await began.passed;
      client.setMessagesManually([]);
      const again = client.sendMessage({ id: 'u1', content: 'one' });
      await until(() => answerIn(client.getMessages()) === 'one begins ');
      held.open();
      await again;
      expect(answerIn(client.getMessages())).to.equal('one begins and ends');
      expect(runs()).to.equal(1);
    });

    it('runs a tool that waits when its page is opened again', async () => {
      const { app } = actor();
      const { open, history, session } = await start(app);
      const tool = { name: 'where', description: 'Where', __toolSide: 'client' };
      const client = await open({ tools: [tool] });
      await client.sendMessage('where bye');
      client.dispose();
      expect((await session.status()).status).to.equal('waiting');
      const again = await open({ ...PAGE, tools: [{ ...tool, execute: async () => ({ at: 'home' }) }] });
      await until(() => answerIn(again.getMessages()).endsWith('bye '));
      expect(answerIn(again.getMessages())).to.include('home');
      expect(await history()).to.have.length(2);
    });

    it('is refused what is not kept any more, and never told something else in its place', async () => {
      const { app, runs } = speaking();
      const ui = await startAgUi({ app, store: make(), limits: { ...FAST, retention: { events: 20 } } });
      const words = Array.from({ length: 60 }, (_, at) => `w${at}`).join(' ');
      const body = input('r1', [says('u1', words)]);
      await (await ui.post('/agent/default', body)).text();
      const headers = { ...as('alice'), 'content-type': 'application/json', 'last-event-id': '5' };
      const url = `${ui.base}/agent/default`;
      const again = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([again.status, again.headers.get('x-error-code')]).to.deep.equal([410, 'CURSOR_GONE']);
      expect(runs()).to.equal(1);
      const page = tanstack({ base: ui.base, ...PAGE });
      await until(async () => answerIn((await page).getMessages()) === `${words} `);
    });

    it('pages back through a long conversation, and sends on from its end', async () => {
      const { app } = speaking();
      const { open, session, history } = await start(app);
      for (let at = 0; at < 6; at++) await session.send(`said ${at}`).result;
      const page = await open({ ...PAGE, history: { pageSize: 4 } });
      await until(() => page.getMessages().length > 0);
      const texts = () => page.getMessages().map(({ parts: [part] }) => part.content.trim());
      expect(texts()).to.deep.equal(['said 4', 'said 4', 'said 5', 'said 5']);
      await page.loadOlderMessages();
      expect(texts().slice(0, 4)).to.deep.equal(['said 2', 'said 2', 'said 3', 'said 3']);
      await page.loadOlderMessages();
      expect(page.getHasOlderMessages()).to.equal(false);
      await page.sendMessage('more');
      expect(answerIn(page.getMessages())).to.equal('more ');
      expect(texts()).to.have.length(14);
      expect(await history()).to.have.length(14);
    });
  });
