import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { heldApp } from '../../support/apps.js';
import { until } from '../../support/until.js';
import {
  actor,
  MAJORS,
  plain,
  STORES,
  startUi,
  textIn,
  type UiGateway,
  withGatewayChat,
} from './fixtures.js';

/** Resolves when a chat is ready again, having answered by itself what it had to. */
async function settled(chat: { readonly status: string }, done: () => boolean): Promise<void> {
  while (!(done() && (chat.status === 'ready' || chat.status === 'error')))
    await new Promise((resolve) => setImmediate(resolve));
}

const part = (message: any, kind: string): any =>
  message.parts.find(
    ({ type, toolName }: any) => type === kind || toolName === kind || type === `tool-${kind}`,
  );

/** The SDK's own transport on every store, and ours. */
const WAYS = [
  ...STORES.map((store) => [...store, 'DefaultChatTransport'] as const),
  [...STORES[0]!, 'gatewayChat'] as const,
];

for (const [store, make, transport] of WAYS)
  for (const major of MAJORS) {
    const { sdk } = major;
    describe(`useChat of AI SDK ${major.major} with ${transport} on ${store}`, () => {
      const begin = async (
        config: Parameters<typeof startUi>[0],
        options: Parameters<typeof startUi>[1] = {},
      ): Promise<UiGateway> => {
        const ui = await startUi({ ...config, store: make() }, options);
        return transport === 'gatewayChat' ? withGatewayChat(ui, options) : ui;
      };
      const start = async (options: Parameters<typeof startUi>[1] = {}) => {
        const { app, effects } = actor();
        return { effects, ...(await begin({ app }, options)) };
      };

      it('is told text, reasoning, data and a tool of the app, as the history has it', async () => {
        const ui = await start();
        const chat = ui.chat(major);
        await chat.sendMessage({ text: 'think hello look data bye' });
        expect(chat.error).to.equal(undefined);
        const [, answer] = chat.messages;
        expect(part(answer, 'reasoning')).to.deep.include({ text: 'Let me think. ', state: 'done' });
        expect(textIn(answer)).to.equal('hello [look: {"did":"look","n":1}] bye ');
        expect(part(answer, 'look')).to.deep.include({
          type: 'dynamic-tool',
          state: 'output-available',
          output: { did: 'look', n: 1 },
          providerExecuted: true,
        });
        expect(part(answer, 'data-weather')).to.deep.include({ id: 'w', data: { degrees: 20 } });
        expect(answer.metadata).to.include({ stopReason: 'end' });
        const { messages } = await (await ui.ask('/main')).json();
        expect(messages.map(({ id, role }: any) => [id, role])).to.deep.equal(
          chat.messages.map(({ id, role }) => [id, role]),
        );
        const withoutNothing = plain(answer.parts).map(({ preliminary: _, ...rest }: any) => rest);
        expect(messages[1].parts).to.deep.equal(withoutNothing);
        await sdk
          .safeValidateUIMessages?.({ messages })
          .then((valid: any) => expect(valid.success).to.equal(true));
        expect(await sdk.convertToModelMessages(messages)).to.be.an('array');
      });

      it('goes on in the same session, and an error of the app is its error', async () => {
        const ui = await start();
        const chat = ui.chat(major);
        await chat.sendMessage({ text: 'one' });
        await chat.sendMessage({ text: 'two fail' });
        expect(chat.messages.map(textIn)).to.deep.equal([
          'one',
          'one ',
          'two fail',
          'two [fail: "The tool failed"] ',
        ]);
        expect(part(chat.messages[3], 'fail')).to.include({
          state: 'output-error',
          errorText: 'The tool failed',
        });
        await chat.sendMessage({ text: 'said break' });
        expect(chat.status).to.equal('error');
        expect(chat.error!.message).to.equal('The app failed');
        expect(textIn(chat.messages[5])).to.equal('said ');
        expect(chat.messages[5].metadata).to.include({ stopReason: 'error' });
      });

      it('sends files, which the app has and the history keeps', async () => {
        const app = defineApp({
          run: ({ message }) => JSON.stringify(message.content.filter(({ type }) => type !== 'text')),
        });
        const ui = await begin({ app });
        const chat = ui.chat(major);
        const url = 'data:image/png;base64,iVBORw0KGgo=';
        const image = { type: 'file', mediaType: 'image/png', filename: 'a.png', url };
        const notes = { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/notes.pdf' };
        await chat.sendMessage({ text: 'see', files: [image, notes] });
        expect(chat.error).to.equal(undefined);
        expect(JSON.parse(textIn(chat.messages[1]))).to.deep.equal([
          { type: 'image', mediaType: 'image/png', name: 'a.png', data: 'iVBORw0KGgo=' },
          { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/notes.pdf' },
        ]);
        const { messages } = await (await ui.ask('/main')).json();
        expect(messages[0].parts).to.have.deep.members([image, notes, { type: 'text', text: 'see' }]);
        expect(plain(chat.messages[0].parts)).to.have.deep.members(messages[0].parts);
      });

      it('is refused with a sentence that can be shown', async () => {
        const ui = await start();
        const chat = ui.chat(major, { user: 'bad' });
        await chat.sendMessage({ text: 'x' });
        expect(chat.error!.message).to.equal('The credentials are not valid');
      });

      it("runs the client's own tool once, and the answer goes on", async () => {
        const ui = await start();
        let asked = 0;
        const chat = ui.chat(major, {
          sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithToolCalls,
          onToolCall: ({ toolCall }: any) => {
            asked += 1;
            void chat.addToolResult({
              tool: toolCall.toolName,
              toolCallId: toolCall.toolCallId,
              output: { city: 'Oslo' },
            });
          },
        });
        await chat.sendMessage({ text: 'look where done' });
        await settled(chat, () => textIn(chat.messages[1]).includes('done'));
        expect(asked).to.equal(1);
        expect(chat.messages).to.have.length(2);
        expect(textIn(chat.messages[1])).to.equal(
          '[look: {"did":"look","n":1}] [where: {"city":"Oslo"}] done ',
        );
        expect(part(chat.messages[1], 'tool-where')).to.deep.include({
          state: 'output-available',
          output: { city: 'Oslo' },
        });
      });

      it('answers a question of the app as a tool', async () => {
        const ui = await start();
        const chat = ui.chat(major, {
          sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithToolCalls,
        });
        await chat.sendMessage({ text: 'ask done' });
        const { toolCallId, input } = part(chat.messages[1], 'tool-colour');
        expect(input).to.deep.equal({ of: 'car' });
        await chat.addToolResult({ tool: 'colour', toolCallId, output: 'red' });
        await settled(chat, () => textIn(chat.messages[1]).includes('done'));
        expect(textIn(chat.messages[1])).to.equal('["red"] done ');
      });

      if (major.major > 5) {
        for (const approved of [true, false])
          it(`is asked for approval, which is ${approved ? 'granted' : 'denied'}`, async () => {
            const ui = await start();
            const chat = ui.chat(major, {
              sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
            });
            await chat.sendMessage({ text: 'a pay b' });
            const { state, approval } = part(chat.messages[1], 'pay');
            expect(state).to.equal('approval-requested');
            await chat.addToolApprovalResponse({ id: approval.id, approved });
            await settled(chat, () => textIn(chat.messages[1]).endsWith('b '));
            expect(chat.messages).to.have.length(2);
            expect(part(chat.messages[1], 'pay').state).to.equal(
              approved ? 'output-available' : 'output-denied',
            );
            expect(ui.effects).to.deep.equal(approved ? ['pay'] : []);
            expect(textIn(chat.messages[1])).to.equal(
              approved ? 'a [pay: {"did":"pay","n":1}] b ' : 'a [pay: "Denied"] b ',
            );
          });

        for (const reason of ['too dear', undefined])
          it(`has a denial in its history, ${reason ? 'with its reason' : 'given without one'}, as the SDK has it`, async () => {
            const ui = await start();
            const chat = ui.chat(major, {
              sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
            });
            await chat.sendMessage({ text: 'a pay b' });
            const { approval } = part(chat.messages[1], 'pay');
            await chat.addToolApprovalResponse({
              id: approval.id,
              approved: false,
              ...(reason && { reason }),
            });
            await settled(chat, () => textIn(chat.messages[1]).endsWith('b '));
            const { messages } = await (await ui.ask('/main')).json();
            expect(part(messages[1], 'pay')).to.deep.include({
              state: 'output-denied',
              approval: { id: approval.id, approved: false, ...(reason && { reason }) },
            });
            expect(part(messages[1], 'pay')).to.deep.equal(plain(part(chat.messages[1], 'pay')));
            const valid = await sdk.safeValidateUIMessages({ messages });
            expect(valid.error).to.equal(undefined);
            // What was denied stays so where the history begins another session.
            const seeded = ui.chat(major, { id: 'other', messages });
            await seeded.sendMessage({ text: 'c' });
            expect(seeded.error).to.equal(undefined);
            if (transport === 'gatewayChat') return;
            const copied = await (await ui.ask('/other')).json();
            expect(part(copied.messages[1], 'pay')).to.deep.include({
              state: 'output-denied',
              approval: { id: approval.id, approved: false, ...(reason && { reason }) },
            });
          });

        it('is asked for two approvals at once, and each is given', async () => {
          const ui = await start();
          const chat = ui.chat(major, {
            sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
          });
          await chat.sendMessage({ text: 'both b' });
          const asked = chat.messages[1].parts.filter(({ approval }: any) => approval);
          expect(asked).to.have.length(2);
          for (const { approval } of asked)
            await chat.addToolApprovalResponse({ id: approval.id, approved: true });
          await settled(chat, () => textIn(chat.messages[1]).endsWith('b '));
          expect(ui.effects).to.deep.equal(['pay', 'pay']);
        });

        for (const first of ['the tool', 'the approval'])
          it(`is asked for an approval and a tool of its own in one step, and answers ${first} first`, async () => {
            const ui = await start();
            let posts = 0;
            const chat = ui.chat(major, {
              sendAutomaticallyWhen: (given: any) => {
                const due =
                  sdk.lastAssistantMessageIsCompleteWithToolCalls(given) ||
                  sdk.lastAssistantMessageIsCompleteWithApprovalResponses(given);
                if (due) posts += 1;
                return due;
              },
            });
            await chat.sendMessage({ text: 'mixed b' });
            const { approval } = part(chat.messages[1], 'pay');
            const { toolCallId } = part(chat.messages[1], 'tool-where');
            const approve = () => chat.addToolApprovalResponse({ id: approval.id, approved: true });
            const run = () => chat.addToolResult({ tool: 'where', toolCallId, output: { city: 'Oslo' } });
            const [one, two] = first === 'the tool' ? [run, approve] : [approve, run];
            await one();
            await settled(chat, () => true);
            await two();
            await settled(chat, () => textIn(chat.messages[1]).endsWith('b '));
            expect(ui.effects).to.deep.equal(['pay']);
            expect(textIn(chat.messages[1])).to.equal('[mixed: [{"did":"pay","n":2},{"city":"Oslo"}]] b ');
            expect(posts).to.equal(first === 'the tool' ? 2 : 1);
          });
        if (major.major === 7)
          for (const approved of [true, false])
            it(`is told what came of an approval that another tab ${approved ? 'gave' : 'denied'}`, async () => {
              const ui = await start({ version: 7 });
              const chat = ui.chat(major);
              await chat.sendMessage({ text: 'a pay b' });
              const { approval } = part(chat.messages[1], 'pay');
              const session = ui.gateway.session('main', { user: { id: 'alice' } });
              await session.respond(approval.id, { approved, reason: 'so be it' });
              await until(async () => (await session.status()).status === 'idle');
              await chat.resumeStream();
              expect(chat.error).to.equal(undefined);
              expect(part(chat.messages[1], 'pay')).to.deep.include({
                state: approved ? 'output-available' : 'output-denied',
                approval: { id: approval.id, approved, reason: 'so be it' },
              });
              // Our transport tells an answer that is over to the chat alone that has not heard its end.
              if (transport === 'gatewayChat') return;
              const tab = ui.chat(major);
              await tab.resumeStream();
              expect(plain(tab.messages[0].parts)).to.deep.equal(plain(chat.messages[1].parts));
              const valid = await sdk.safeValidateUIMessages({ messages: plain(tab.messages) });
              expect(valid.error).to.equal(undefined);
            });
      } else
        it('is told of an approval by a data part, and of the denial', async () => {
          const ui = await start({ version: 5 });
          const chat = ui.chat(major);
          await chat.sendMessage({ text: 'a pay b' });
          const { data } = part(chat.messages[1], 'data-approval-request');
          expect(data).to.deep.include({ toolName: 'pay', input: { n: 1 }, settled: false });
          await ui.gateway
            .session('main', { user: { id: 'alice' } })
            .respond(data.callId, { approved: false });
          await chat.resumeStream();
          expect(part(chat.messages[1], 'pay')).to.include({ state: 'output-error', errorText: 'Denied' });
        });

      it('goes on where somebody writes instead of answering', async () => {
        const ui = await start();
        const chat = ui.chat(major);
        await chat.sendMessage({ text: 'pay done' });
        await chat.sendMessage({ text: 'hi' });
        expect([chat.status, textIn(chat.messages.at(-1))]).to.deep.equal(['ready', 'hi ']);
        expect(ui.effects).to.deep.equal([]);
        const { messages } = await ui.gateway.session('main', { user: { id: 'alice' } }).history();
        expect(JSON.stringify(messages[1])).to.include('Denied: The conversation went on');
      });

      it('edits a message and has an answer given again, each beside the former', async () => {
        const ui = await start();
        const chat = ui.chat(major);
        await chat.sendMessage({ text: 'one' });
        await chat.sendMessage({ text: 'two' });
        const [, , second] = chat.messages;
        await chat.sendMessage({ text: 'three', messageId: second.id });
        expect(chat.messages.map(textIn)).to.deep.equal(['one', 'one ', 'three', 'three ']);
        await chat.sendMessage({ text: 'four', messageId: second.id });
        expect(chat.messages.map(textIn)).to.deep.equal(['one', 'one ', 'four', 'four ']);
        const former = chat.messages[3].id;
        await chat.regenerate();
        expect(chat.messages[3].id).to.not.equal(former);
        const { messages } = await (await ui.ask('/main')).json();
        expect(messages.map(textIn)).to.deep.equal(['one', 'one ', 'four', 'four ']);
        expect(messages[3].id).to.equal(chat.messages[3].id);
        await chat.regenerate({ messageId: chat.messages[1].id });
        expect(chat.messages.map(textIn)).to.deep.equal(['one', 'one ']);
        const kept = await ui.gateway.session('main', { user: { id: 'alice' } }).history();
        expect(kept.messages).to.have.length(2);
        expect(kept.messages[1]!.versions).to.have.length(2);
      });

      it('is stopped by the route, and not by leaving', async () => {
        const { began, held, app } = heldApp('working ', 'done');
        const ui = await begin({ app });
        const chat = ui.chat(major);
        const sending = chat.sendMessage({ text: 'x' });
        await began.passed;
        await chat.stop();
        await sending;
        const session = ui.gateway.session('main', { user: { id: 'alice' } });
        expect((await session.status()).status).to.equal('running');
        const again = ui.chat(major);
        const resuming = again.resumeStream();
        const stopped = await ui.ask('/main/stop', { method: 'POST' });
        expect(await stopped.json()).to.deep.equal({ success: true });
        await resuming;
        expect(again.status).to.equal('ready');
        expect((await session.status()).status).to.equal('idle');
        held.open();
      });
    });
  }
