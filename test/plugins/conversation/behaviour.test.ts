import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { halting } from '../../support/apps.js';
import { startGateway } from '../../support/gateway.js';
import { byName } from '../../support/users.js';
import { actor } from '../actor.js';
import { browserFetch, FrameProxy } from '../frame-proxy.js';
import { DOORS, type Tab, type TabInit } from './doors.js';

/** Says the words of its message, with the number of the run before them. */
function counting() {
  let runs = 0;
  const app = defineApp({
    async *run({ text }) {
      const run = ++runs;
      for (const word of `${run}: ${text}`.split(' ')) yield `${word} `;
    },
  });
  return { app, runs: () => runs };
}

for (const door of DOORS)
  describe(`a conversation by the door ${door.name}`, () => {
    const start = async (app: ReturnType<typeof defineApp>) => {
      const started = await startGateway({ auth: byName, app, limits: { sendsPerSecond: 10_000 } });
      started.gateway.use(door.plugin());
      const open = async (init: Partial<TabInit> = {}): Promise<Tab> =>
        door.open({ url: started.url, ...init });
      const history = async (session = 'main') => {
        const { messages } = await started.gateway.session(session, { user: { id: 'alice' } }).history();
        return messages.map((message) => `${message.role}: ${textOf(message).trim()}`);
      };
      return { ...started, open, history };
    };
    const can = (member: keyof Tab): boolean => door.can.includes(member);

    it('begins a session that there was not, and goes on in it', async () => {
      const { app } = counting();
      const { open, history } = await start(app);
      const tab = await open({ session: 'new' });
      expect(await tab.say('one')).to.equal('1: one ');
      expect(await tab.say('two')).to.equal('2: two ');
      expect(await history('new')).to.deep.equal([
        'user: one',
        'assistant: 1: one',
        'user: two',
        'assistant: 2: two',
      ]);
    });

    it('begins with the conversation that its client brings, once', async () => {
      const { app } = counting();
      const { open, history } = await start(app);
      const had = ['before', 'it was'];
      const tab = await open({ had });
      expect(await tab.say('now')).to.equal('1: now ');
      expect(await tab.say('then')).to.equal('2: then ');
      const all = ['user: before', 'assistant: it was', 'user: now', 'assistant: 1: now'];
      expect(await history()).to.deep.equal([...all, 'user: then', 'assistant: 2: then']);
    });

    it('has two clients in one order, and both their messages once', async () => {
      const { app, began, held, runs } = halting('', 'done');
      const { open, history, gateway } = await start(app);
      const one = (await open()).say('one');
      await began.passed;
      const session = gateway.session('main', { user: { id: 'alice' } });
      const queued = (async () => {
        for await (const event of session.events({ from: 'earliest' }))
          if (event.type === 'message_accepted' && textOf(event.message) === 'two') return;
      })();
      const two = (await open()).say('two');
      await queued;
      held.open();
      expect(await one).to.equal('one done');
      expect(await two).to.equal('two done');
      expect(runs()).to.equal(2);
      expect(await history()).to.deep.equal([
        'user: one',
        'assistant: one done',
        'user: two',
        'assistant: two done',
      ]);
    });

    if (door.repeats)
      it('has one run of a request that comes twice', async () => {
        const { app, runs } = counting();
        const { open, history } = await start(app);
        const sent: [any, any][] = [];
        const recording: typeof fetch = (input, init) => {
          if (init?.method?.toUpperCase() === 'POST') sent.push([input, init]);
          return browserFetch(input, init);
        };
        const tab = await open({ fetch: recording });
        await tab.say('once only');
        const { signal: _, ...init } = sent[0]![1];
        const [first, second] = await Promise.all(
          [0, 1].map(async () => (await fetch(sent[0]![0], init)).text()),
        );
        expect(first).to.include('only').and.to.equal(second);
        expect(runs()).to.equal(1);
        expect(await history()).to.have.length(2);
      });

    if (can('comeBack'))
      it('goes on behind a cut, wherever that was, in the same run', async () => {
        const { app, runs } = counting();
        const { open, url } = await start(app);
        const proxy = await FrameProxy.start(url);
        for (let after = 2; after < 8; after++) {
          const tab = await open({ url: proxy.url, session: `cut-${after}` });
          proxy.cuts.push({ after, clean: false });
          const failure = await tab.say('a b c d').then(
            () => null,
            (error) => error,
          );
          expect(failure, `cut after ${after}`).to.be.instanceOf(Error);
          const before = runs();
          expect(await tab.comeBack!(), `cut after ${after}`).to.equal(`${before}: a b c d `);
          expect(runs()).to.equal(before);
        }
        expect(proxy.ended).to.equal(6);
      });

    if (can('stop'))
      it('stops, keeps what was said, and goes on', async () => {
        const { app, began, held } = halting('', 'done');
        const { open, history } = await start(app);
        const tab = await open();
        const one = tab.say('one').catch(() => 'failed');
        await began.passed;
        await tab.stop!();
        await one;
        expect(await history()).to.deep.equal(['user: one', 'assistant: one']);
        held.open();
        const next = await open({ had: ['one', 'one '] });
        expect(await next.say('two')).to.equal('two done');
        expect((await history()).slice(-2)).to.deep.equal(['user: two', 'assistant: two done']);
      });

    if (can('edit'))
      it('edits: what followed is there no more, and everybody sees that', async () => {
        const { app } = counting();
        const { open, history } = await start(app);
        const tab = await open();
        await tab.say('one');
        await tab.say('two');
        expect(await tab.edit!('three')).to.equal('3: three ');
        expect(await history()).to.deep.equal([
          'user: one',
          'assistant: 1: one',
          'user: three',
          'assistant: 3: three',
        ]);
        expect(await tab.say('four')).to.equal('4: four ');
      });

    if (can('regenerate'))
      it('answers again: the new answer stands in the place of the old one', async () => {
        const { app } = counting();
        const { open, history } = await start(app);
        const tab = await open();
        await tab.say('one');
        expect(await tab.regenerate!()).to.equal('2: one ');
        expect(await tab.regenerate!()).to.equal('3: one ');
        expect(await history()).to.deep.equal(['user: one', 'assistant: 3: one']);
        expect(await tab.say('two')).to.equal('4: two ');
      });

    if (can('approve'))
      for (const approved of [true, false])
        it(`${approved ? 'approves' : 'denies'}: the tool is called ${approved ? 'once' : 'never'}, and the same run goes on`, async () => {
          const { app, effects } = actor();
          const { open, history } = await start(app);
          const tab = await open();
          await tab.say('before pay after');
          expect(effects).to.deep.equal([]);
          expect(await tab.approve!(approved)).to.match(/\[pay: .*\] after $/);
          expect(effects).to.deep.equal(approved ? ['pay'] : []);
          expect(await history()).to.have.length(2);
          expect(await tab.say('thanks')).to.equal('thanks ');
        });

    if (can('approve'))
      it('refuses the vote of whoever has no role for it: nothing is called, nothing logged, and it stays open', async () => {
        const { app, effects } = actor([], { roles: ['finance'], approvals: 2 });
        const { open, gateway } = await start(app);
        const tab = await open();
        await tab.say('before pay after');
        const error: any = await tab.approve!(true).then(
          () => null,
          (failure) => failure,
        );
        expect(error).to.be.instanceOf(Error);
        expect(`${error.message} ${error.code}`).to.match(/You need another role|permission_denied|403/);
        expect(effects).to.deep.equal([]);
        const logged: string[] = [];
        const session = gateway.session('main', { user: { id: 'alice', roles: ['finance'] } });
        for await (const { type } of session.events({ from: 'earliest' })) {
          logged.push(type);
          if (type === 'tool_confirmation_required') break;
        }
        expect((await session.status()).status).to.equal('waiting');
      });
  });
