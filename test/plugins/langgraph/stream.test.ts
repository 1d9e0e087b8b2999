import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { heldApp } from '../../support/apps.js';
import { gate } from '../../support/gate.js';
import { actor, answers, brief, PAGES, STORES, startLangGraph } from './fixtures.js';

const yes = { decisions: [{ type: 'approve' }] };

for (const [store, make] of STORES)
  for (const sdk of PAGES) {
    const isOld = sdk.version === '1.11.0';
    describe(`useStream of ${sdk.version} over ${sdk.wire} on ${store}`, () => {
      it('is told text, reasoning, data and what tools of the app do', async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk);
        await tab.say('think hello look data bye fail');
        const expected = [
          ['human', 'think hello look data bye fail'],
          ['ai', 'hello '],
          ['tool', '{"did":"look","n":1}'],
          ['ai', '[look: {"did":"look","n":1}] bye '],
          ['tool', 'The tool failed'],
          ['ai', '[fail: "The tool failed"] '],
        ];
        await tab.until((shown) => shown.messages.length === expected.length, 'the answer');
        await tab.until((shown) => /fail: .*\] $/.test(answers(shown)), 'its end');
        expect(brief(tab.shown)).to.deep.equal(expected);
        expect(tab.shown.error).to.equal(undefined);
        expect(effects).to.deep.equal(['look']);
        expect(tab.shown.isLoading).to.equal(false);
        await tab.say('more');
        await tab.until((shown) => /more $/.test(answers(shown)), 'the second answer');
        const again = ui.tab(sdk);
        await again.until((shown) => shown.messages.length === tab.shown.messages.length, 'what is there');
        expect(brief(again.shown)).to.deep.equal(brief(tab.shown));
      });

      it('begins a thread of its own', async () => {
        const { app } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk, { threadId: null });
        await tab.say('hello');
        await tab.until((shown) => answers(shown) === 'hello ', 'the answer');
        const { threadId } = tab.shown;
        expect(threadId).to.match(/^[0-9a-f-]{36}$/);
        const { messages } = await ui.gateway.session(threadId, { user: { id: 'alice' } }).history();
        expect(messages).to.have.length(2);
      });

      it('has a tab that comes in mid-answer show all of it, and both the end', async () => {
        const { app, held, began } = heldApp('working ', 'done');
        const ui = await startLangGraph({ app, store: make() });
        const one = ui.tab(sdk);
        const said = one.say('go');
        await began.passed;
        await one.until((shown) => answers(shown) === 'working ', 'the beginning');
        const two = ui.tab(sdk);
        await two.until((shown) => answers(shown) === 'working ' && shown.isLoading, 'the beginning');
        held.open();
        await said;
        for (const tab of [one, two]) {
          await tab.until((shown) => answers(shown) === 'working done' && !shown.isLoading, 'the end');
          expect(brief(tab.shown)).to.deep.equal([
            ['human', 'go'],
            ['ai', 'working done'],
          ]);
        }
      });

      it('approves in one tab what another asked for, and denies', async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const one = ui.tab(sdk);
        await one.say('first pay then pay done');
        const { interrupt } = await one.until((shown) => shown.interrupt !== undefined, 'a question');
        expect(interrupt.value.action_requests[0]).to.deep.include({ name: 'pay', args: { n: 1 } });
        expect(effects).to.deep.equal([]);
        const two = ui.tab(sdk);
        const isThere = (shown: any) => shown.interrupt?.id === interrupt.id && answers(shown) === 'first ';
        await two.until(isThere, 'the question elsewhere');
        await two.controller.respond(yes, { interruptId: interrupt.id });
        const next = await two.until(
          (shown) => shown.interrupt && shown.interrupt.id !== interrupt.id,
          'another',
        );
        expect(effects).to.deep.equal(['pay']);
        const no = { decisions: [{ type: 'reject', message: 'too much' }] };
        await two.controller.respond(no, { interruptId: next.interrupt.id });
        const whole = /^first \[pay: \{"did":"pay","n":1}\] then \[pay: .*\] done $/;
        await two.until(
          (shown) => whole.test(answers(shown)) && !shown.interrupt && !shown.isLoading,
          'the end',
        );
        // The older version does not know that another tab has answered.
        await one.until((shown) => whole.test(answers(shown)) && (isOld || !shown.interrupt), 'the end');
        expect(effects).to.deep.equal(['pay']);
        expect(next.interrupt.id).not.to.equal(interrupt.id);
        const { messages } = await ui.gateway.session('main', { user: { id: 'alice' } }).history();
        expect(messages).to.have.length(2);
      });

      it('answers a question of the app, which goes on in the same message', async () => {
        const { app } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk);
        await tab.say('hello ask bye');
        const { interrupt } = await tab.until((shown) => shown.interrupt !== undefined, 'a question');
        expect(interrupt.value).to.deep.equal({ name: 'colour', input: { of: 'car' } });
        await tab.controller.respond('red');
        await tab.until((shown) => answers(shown) === 'hello ["red"] bye ', 'the end');
        expect(brief(tab.shown)).to.have.length(2);
      });

      it('answers a call of a tool that runs in the page', async () => {
        const { app } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk);
        await tab.say('where bye');
        const { tasks } = await tab.client.threads.getState('main');
        const [{ id, value }] = tasks[0].interrupts;
        expect(value).to.deep.equal({ type: 'tool', tool_call: { id, name: 'where', args: { n: 1 } } });
        await tab.controller.respond({ [id]: 'here' }, { interruptId: id });
        await tab.until((shown) => answers(shown) === '[where: "here"] bye ', 'the end');
      });

      it('answers all questions that were put together', async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk);
        await tab.say('both done');
        const { interrupts } = await tab.until((shown) => shown.interrupts.length === 2, 'two questions');
        await tab.controller.respondAll(Object.fromEntries(interrupts.map(({ id }: any) => [id, yes])));
        await tab.until((shown) => /done $/.test(answers(shown)) && !shown.isLoading, 'the end');
        expect(effects).to.deep.equal(['pay', 'pay']);
        // The older version takes an event that comes behind the answer to its command for one more question.
        if (!isOld) expect(tab.shown.interrupts).to.deep.equal([]);
      });

      it('answers questions that were put together one after another', async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk);
        await tab.say('both done');
        const { interrupts } = await tab.until((shown) => shown.interrupts.length === 2, 'two questions');
        await tab.controller.respond(yes, { interruptId: interrupts[0].id });
        await tab.until((shown) => shown.interrupts.length === 1 && !shown.isLoading, 'one question');
        await tab.controller.respond(yes, { interruptId: interrupts[1].id });
        await tab.until((shown) => /done $/.test(answers(shown)) && !shown.isLoading, 'the end');
        expect(effects).to.deep.equal(['pay', 'pay']);
      });

      it('stops an answer, also behind an approval; to leave is no stop', async () => {
        const held = gate();
        let began = gate();
        let aborted = 0;
        const app = defineApp({
          tools: actor().app.tools!,
          async *run(turn: any) {
            turn.signal.addEventListener('abort', () => {
              aborted += 1;
            });
            if (turn.text === 'pay') await turn.callTool('pay', { n: 1 });
            yield 'working ';
            began.open();
            await held.passed;
            yield 'done';
          },
        } as any);
        const ui = await startLangGraph({ app, store: make() });
        const leaving = ui.tab(sdk);
        leaving.say('go').catch(() => {});
        await began.passed;
        await leaving.until((shown) => answers(shown) === 'working ', 'the beginning');
        await leaving.controller.disconnect();
        expect(aborted).to.equal(0);
        const tab = ui.tab(sdk);
        await tab.until((shown) => answers(shown) === 'working ' && shown.isLoading, 'the beginning');
        const { run } = await firstState(ui);
        await tab.client.runs.cancel('main', run.runId);
        await tab.until((shown) => !shown.isLoading, 'the end');
        expect(aborted).to.equal(1);
        expect(answers(tab.shown)).to.equal('working ');
        began = gate();
        await tab.say('pay');
        await tab.until((shown) => shown.interrupt !== undefined, 'a question');
        tab.controller.respond(yes).catch(() => {});
        await began.passed;
        await tab.until((shown) => answers(shown) === 'working working ', 'the second beginning');
        const { run: second } = await firstState(ui);
        // The older version does not know which run goes on behind an answer.
        if (isOld) await tab.client.runs.cancel('main', second.runId);
        else await tab.controller.stop();
        const { stopReason } = await ui.gateway.session('main', { user: { id: 'alice' } }).run(second.runId)
          .result;
        expect(stopReason).to.equal('aborted');
        expect(aborted).to.equal(2);
      });

      it('edits a message, and has one answered again, from where they are', async () => {
        const app = defineApp({
          run: async (turn: any) => `${turn.history.length}:${turn.text}`,
        });
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk);
        await tab.say('one', { id: 'u1' });
        await tab.until((shown) => answers(shown) === '0:one', 'an answer');
        await tab.say('two', { id: 'u2' });
        await tab.until((shown) => answers(shown) === '0:one2:two', 'a second answer');
        // The older version has one place for all messages; the states that there were have each their own.
        const placeBefore = async (id: string): Promise<string> => {
          if (!isOld) return tab.controller.messageMetadataStore.getSnapshot().get(id).parentCheckpointId;
          const states: any[] = await tab.client.threads.getHistory('main');
          const at = states.findLast(({ values }) => values.messages.at(-1).id === id);
          return at.parent_checkpoint.checkpoint_id;
        };
        await tab.say('TWO', { forkFrom: await placeBefore('u2') } as object);
        await tab.until((shown) => answers(shown) === '0:one2:TWO', 'the edited answer');
        expect(brief(tab.shown)).to.deep.equal([
          ['human', 'one'],
          ['ai', '0:one'],
          ['human', 'TWO'],
          ['ai', '2:TWO'],
        ]);
        const last = tab.shown.messages.at(-1).id;
        await tab.controller.submit(null, { forkFrom: await placeBefore(last) });
        await tab.until(
          (shown) => shown.messages.at(-1).id !== last && shown.messages.length === 4,
          'another',
        );
        expect(answers(tab.shown)).to.equal('0:one2:TWO');
        const { messages } = await ui.gateway.session('main', { user: { id: 'alice' } }).history();
        expect(messages.map(({ versions = [] }) => versions.length)).to.deep.equal([0, 0, 2, 2]);
      });

      it('is told of failures: of the run, and of the request', async () => {
        const { app } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const tab = ui.tab(sdk);
        await tab.say('hello break');
        await tab.until((shown) => shown.error && answers(shown) === 'hello ', 'the failure');
        expect(String(tab.shown.error)).not.to.include('secret');
        await tab.say('again');
        await tab.until((shown) => /again $/.test(answers(shown)), 'the next answer');
        const other = ui.tab(sdk, { threadId: 'other' });
        await other.say('hello', { multitaskStrategy: 'rollback' } as object);
        expect(String(other.shown.error)).to.match(/multitaskStrategy/);
        const refused = ui.tab(sdk, { user: 'bad' });
        await refused.until((shown) => shown.error !== undefined, 'the refusal');
        const strange = ui.tab(sdk, { user: 'bob' });
        await strange.until((shown) => !shown.isThreadLoading, 'nothing');
        expect(brief(strange.shown)).to.deep.equal([]);
      });
    });
  }

async function firstState(ui: Awaited<ReturnType<typeof startLangGraph>>): Promise<any> {
  const session = ui.gateway.session('main', { user: { id: 'alice' } });
  for await (const event of session.events({ from: 'snapshot' }))
    if (event.type === 'snapshot') return event.state;
}
