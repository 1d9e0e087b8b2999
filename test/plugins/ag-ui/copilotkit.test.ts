import { expect } from 'chai';
import { z } from 'zod';
import { defineApp } from '../../../server/index.js';
import { gate } from '../../support/gate.js';
import { FAST } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { as } from '../../support/users.js';
import { FrameProxy } from '../frame-proxy.js';
import { type AgUiGateway, actor, input, STORES, says, shown, startAgUi, textIn } from './fixtures.js';

/** CopilotKit's core without a page, as its provider makes it. */
async function copilot(
  ui: AgUiGateway,
  { url = ui.url, transport = 'rest', threadId = 'main' } = {},
): Promise<{ core: any; agent: any; errors: any[] }> {
  const { CopilotKitCore } = (await import('@copilotkit/core')) as any;
  const core = new CopilotKitCore({
    runtimeUrl: `${url}/ag-ui`,
    runtimeTransport: transport,
    headers: as('alice'),
  });
  const errors: any[] = [];
  await new Promise<void>((resolve) =>
    core.subscribe({
      onError: ({ error, code }: any) => void errors.push([code, error.message]),
      onRuntimeConnectionStatusChanged: ({ status }: any) => {
        if (status === 'connected') resolve();
      },
    }),
  );
  const agent = core.getAgent('default');
  agent.threadId = threadId;
  return { core, agent, errors };
}

describe('CopilotKit without its runtime', () => {
  const { error } = console;
  before(() => {
    // It looks for its runtime where there is a page.
    Object.assign(globalThis, { window: {} });
    console.error = () => {};
  });
  after(() => {
    delete (globalThis as { window?: unknown }).window;
    console.error = error;
  });

  for (const [store, make] of STORES)
    for (const transport of ['rest', 'single'])
      describe(`on ${store}, by its ${transport} routes`, () => {
        it('finds the apps, runs, connects elsewhere, and goes on there', async () => {
          const { app, effects } = actor();
          const ui = await startAgUi({ app, store: make() });
          const { core, agent, errors } = await copilot(ui, { transport });
          agent.addMessage(says('u1', 'think hello look bye'));
          await core.runAgent({ agent });
          const other = await copilot(ui, { transport });
          await other.core.connectAgent({ agent: other.agent });
          expect(other.agent.messages).to.deep.equal(agent.messages);
          expect(shown(agent.messages)).to.have.length(5);
          other.agent.addMessage(says('u2', 'more'));
          await other.core.runAgent({ agent: other.agent });
          expect(textIn(other.agent.messages)).to.match(/bye more $/);
          expect(effects).to.deep.equal(['look']);
          expect([...errors, ...other.errors]).to.deep.equal([]);
          const unknown = await copilot(ui, { transport, threadId: 'unknown' });
          await unknown.core.connectAgent({ agent: unknown.agent });
          expect(unknown.agent.messages).to.deep.equal([]);
          expect(unknown.errors).to.deep.equal([]);
        });

        it('connects within an answer, and stops it', async () => {
          const held = gate();
          const began = gate();
          const app = defineApp({
            async *run(turn: any) {
              turn.signal.addEventListener('abort', () => held.open());
              yield 'working ';
              began.open();
              await held.passed;
              yield 'done';
            },
          });
          const ui = await startAgUi({ app, store: make() });
          const { core, agent } = await copilot(ui, { transport });
          agent.addMessage(says('u1', 'go'));
          const running = core.runAgent({ agent }).catch(() => {});
          await began.passed;
          const other = await copilot(ui, { transport });
          const connected = other.core.connectAgent({ agent: other.agent }).catch(() => {});
          await until(() => textIn(other.agent.messages) === 'working ');
          core.stopAgent({ agent });
          await Promise.all([running, connected]);
          expect(shown(other.agent.messages)).to.deep.equal(shown(agent.messages));
          expect(textIn(agent.messages)).to.equal('working ');
        });

        it('runs the tools of its page, and has confirmations answered after a reload', async () => {
          const { app, effects } = actor();
          const ui = await startAgUi({ app, store: make() });
          const { core, agent, errors } = await copilot(ui, { transport });
          const seen: unknown[] = [];
          core.addTool({
            name: 'where',
            description: 'Tells where the user is',
            parameters: z.object({}),
            handler: async (given: unknown) => {
              seen.push(given);
              return 'here';
            },
          });
          agent.addMessage(says('u1', 'where pay bye'));
          await core.runAgent({ agent });
          expect(seen).to.deep.equal([{ n: 1 }]);
          expect(textIn(agent.messages)).to.equal('[where: "here"] ');
          const reloaded = await copilot(ui, { transport });
          await reloaded.core.connectAgent({ agent: reloaded.agent });
          expect(shown(reloaded.agent.messages)).to.deep.equal(shown(agent.messages));
          const [{ id: interruptId }] = reloaded.agent.pendingInterrupts;
          const resume = [{ interruptId, status: 'resolved', payload: { approved: true } }];
          await reloaded.core.runAgent({ agent: reloaded.agent, resume });
          expect(effects).to.deep.equal(['pay']);
          expect(textIn(reloaded.agent.messages)).to.match(/^\[where: "here"\] \[pay: .*\] bye $/);
          // A question that was answered does not come back.
          const late = await copilot(ui, { transport });
          await late.core.connectAgent({ agent: late.agent });
          expect(late.agent.pendingInterrupts).to.deep.equal([]);
          expect(late.agent.messages.map(({ role }: any) => role)).to.deep.equal([
            'user',
            'assistant',
            'tool',
            'assistant',
            'tool',
            'assistant',
          ]);
          expect([...errors, ...reloaded.errors, ...late.errors]).to.deep.equal([]);
        });
      });

  it('is whole again by a reload, wherever its stream was cut; until then the part stays', async () => {
    const { app, effects } = actor();
    const ui = await startAgUi({ app, limits: FAST });
    const proxy = await FrameProxy.start(ui.url);
    const uncut = await copilot(ui, { threadId: 'uncut' });
    uncut.agent.addMessage(says('u1', 'think hello look bye'));
    await uncut.core.runAgent({ agent: uncut.agent });
    const expected = shown(uncut.agent.messages);
    const whole = await ui.post('/agent/default', input('r', [says('u1', 'think hello look bye')]));
    const frames = (await whole.text()).split('\n\n').length - 2;
    for (const clean of [false, true])
      for (let after = 0; after < frames; after++) {
        const where = `${clean ? 'ended' : 'cut'} after ${after} of ${frames} frames`;
        const threadId = `${clean ? 'clean' : 'cut'}-${after}`;
        const { core, agent } = await copilot(ui, { url: proxy.url, threadId });
        proxy.cuts.push({ after, clean });
        agent.addMessage(says('u1', 'think hello look bye'));
        await core.runAgent({ agent }).catch(() => {});
        // It asks nobody again by itself.
        expect(agent.messages.length, where).to.be.at.most((expected as any[]).length);
        const reloaded = await copilot(ui, { url: proxy.url, threadId });
        await reloaded.core.connectAgent({ agent: reloaded.agent });
        expect(shown(reloaded.agent.messages), where).to.deep.equal(expected);
        // The page that was not reloaded is brought in line by its next run.
        agent.addMessage(says('u2', 'more'));
        await core.runAgent({ agent });
        expect(shown(agent.messages.slice(0, -2)), where).to.deep.equal(expected);
        expect(textIn(agent.messages.slice(-1)), where).to.equal('more ');
      }
    expect(proxy.ended).to.equal(2 * frames);
    expect(effects).to.have.length(2 + 2 * frames);
  });
});
