import { expect } from 'chai';
import { heldApp } from '../../support/apps.js';
import { expiringToken } from '../../support/expiring-token.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { toldUntilCut } from '../door.js';
import { browserFetch, FrameProxy } from '../frame-proxy.js';
import { actor, chunksIn, chunksOf, MAJORS, STORES, shown, startUi, textIn, userSays } from './fixtures.js';

const SCRIPT = 'think hello look data bye';

describe('a chat whose stream is cut off', () => {
  // The hook of earlier majors hands its transport on without what tells that a stream is a replay; 5 does not ask for it.
  for (const hook of [false, true])
    for (const major of MAJORS.filter(({ major: number }) => !hook || number < 7)) {
      const whole = !hook && major.major > 5;
      const name = `${hook ? 'useChat({ transport })' : 'Chat'} of AI SDK ${major.major}`;
      it(`${whole ? 'is whole without a reload' : 'has the beginning twice without a reload, which no server can help'}: ${name}`, async () => {
        const { app } = actor();
        const ui = await startUi({ app });
        const proxy = await FrameProxy.start(ui.url);
        const read = gate();
        proxy.cuts.push({ after: 7, clean: false, when: read.passed });
        const chat = ui.chat(major, { url: proxy.url, fetch: browserFetch, hook });
        const sending = chat.sendMessage({ text: SCRIPT });
        await until(() => textIn(chat.messages[1]) === 'hello ');
        read.open();
        await sending;
        expect(textIn(chat.messages[1])).to.equal('hello ');
        await chat.resumeStream();
        expect(chat.messages).to.have.length(2);
        const { messages } = await (await ui.ask('/main')).json();
        if (whole) expect(shown(chat.messages)).to.deep.equal(shown(messages));
        else expect(textIn(chat.messages[1])).to.equal(`hello ${textIn(messages[1])}`);
      });
    }

  it('is told that its answer was lost, when the gateway closes', async () => {
    const { app, held, began } = heldApp('working ', 'done');
    const ui = await startUi({ app });
    const response = await ui.post({ id: 'main', messages: [userSays('u1', 'x')] });
    await began.passed;
    const reading = response.text();
    await ui.gateway.close();
    held.open();
    const chunks = chunksIn(await reading);
    expect(chunks.slice(-3).map((chunk) => chunk.type ?? chunk)).to.deep.equal(['error', 'finish', '[DONE]']);
  });

  it('never finds a clean end before the end of the answer: one that may not read on is cut', async () => {
    const { app, held, began } = heldApp('working ', 'done');
    const { auth, limits, expire } = expiringToken();
    const ui = await startUi({ app, auth, limits });
    const response = await ui.post({ id: 'main', messages: [userSays('u1', 'x')] });
    await began.passed;
    const text = await toldUntilCut(response, 'text-delta', expire);
    expect(chunksIn(text).map(({ type }) => type)).to.deep.equal([
      'start',
      'start-step',
      'text-start',
      'text-delta',
    ]);
    held.open();
  });
});

describe('a POST that comes again', () => {
  for (const [store, make] of STORES) {
    it(`is told the same frames from the beginning, and runs once, wherever it was cut: ${store}`, async () => {
      const { app, effects } = actor();
      const ui = await startUi({ app, store: make(), limits: { sendsPerSecond: 1000 } });
      const proxy = await FrameProxy.start(ui.url);
      const body = { id: 'main', messages: [userSays('u1', SCRIPT)] };
      const whole = await (await ui.post(body)).text();
      const frames = chunksIn(whole).length;
      for (let after = 0; after < frames; after++) {
        proxy.cuts.push({ after, clean: false });
        const cut = await fetch(`${proxy.url}/api/chat`, {
          method: 'POST',
          headers: { authorization: 'Bearer alice', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        await cut.text().catch(() => {});
        expect(await (await ui.post(body)).text()).to.equal(whole);
      }
      expect(effects).to.deep.equal(['look']);
      const { messages } = await (await ui.ask('/main')).json();
      expect(messages).to.have.length(2);
    });

    it(`joins the run that an edit, a regeneration or a continuation began: ${store}`, async () => {
      const { app, effects } = actor();
      const ui = await startUi({ app, store: make() });
      const first = await chunksOf(await ui.post({ id: 'main', messages: [userSays('u1', 'one')] }));
      const edit = {
        id: 'main',
        messages: [userSays('u1', 'pay two')],
        messageId: 'u1',
        trigger: 'submit-message',
      };
      const [one, two] = await Promise.all(
        [ui.post(edit), ui.post(edit)].map(async (it) => (await it).text()),
      );
      expect(two).to.equal(one);
      const [start] = chunksIn(one!);
      expect(start.messageId).to.not.equal(first[0].messageId);
      const { toolCallId } = chunksIn(one!).find(({ type }) => type === 'tool-approval-request');
      const part = {
        type: 'dynamic-tool',
        toolName: 'pay',
        toolCallId,
        state: 'approval-responded',
        input: { n: 1 },
        approval: { id: toolCallId, approved: true },
      };
      const answer = {
        id: 'main',
        messageId: start.messageId,
        messages: [
          userSays('u1', 'pay two'),
          { id: start.messageId, role: 'assistant', parts: [{ type: 'step-start' }, part] },
        ],
      };
      const [a, b] = await Promise.all(
        [ui.post(answer), ui.post(answer)].map(async (it) => (await it).text()),
      );
      expect(b).to.equal(a);
      expect(await (await ui.post(answer)).text()).to.equal(a);
      expect(chunksIn(a!)[0]).to.include({ type: 'start', messageId: start.messageId });
      expect(effects).to.deep.equal(['pay']);
      const again = {
        id: 'main',
        messages: [userSays('u1', 'pay two')],
        messageId: start.messageId,
        trigger: 'regenerate-message',
      };
      const [c, d] = await Promise.all([ui.post(again), ui.post(again)].map(async (it) => (await it).text()));
      expect(d).to.equal(c);
      expect(await (await ui.post(again)).text()).to.equal(c);
      expect((await (await ui.ask('/main')).json()).messages).to.have.length(1);
    });
  }

  it('under another key and with other words is refused', async () => {
    const { app } = actor();
    const ui = await startUi({ app });
    await (await ui.post({ id: 'main', messages: [userSays('u1', 'one')] })).text();
    const other = await ui.post({ id: 'main', messages: [userSays('u1', 'other')] });
    expect([other.status, other.headers.get('x-error-code')]).to.deep.equal([422, 'IDEMPOTENCY_CONFLICT']);
    const keyed = { headers: { 'idempotency-key': 'k' } };
    const one = await (await ui.post({ id: 'main', messages: [userSays('u2', 'two')] }, keyed)).text();
    expect(await (await ui.post({ id: 'main', messages: [userSays('u2', 'two')] }, keyed)).text()).to.equal(
      one,
    );
  });
});

describe('a client that counts chunks', () => {
  for (const [store, make] of STORES)
    it(`has all of them and none twice, wherever it comes back, also over questions: ${store}`, async () => {
      const { app } = actor();
      const ui = await startUi({ app, store: make(), limits: { connectionsPerUser: 100 } });
      const posted = await ui.post({ id: 'main', messages: [userSays('u1', `${SCRIPT} where more`)] });
      const segment = posted.headers.get('x-workflow-run-id')!;
      const chunks = await chunksOf(posted);
      for (let at = 0; at <= chunks.length; at++) {
        const rest = await chunksOf(await ui.ask(`/${encodeURIComponent(segment)}/stream?startIndex=${at}`));
        if (at < chunks.length - 1) expect([...chunks.slice(0, at), ...rest]).to.deep.equal(chunks);
      }
      const { toolCallId } = chunks.find(({ toolName }: any) => toolName === 'where');
      await ui.gateway.session('main', { user: { id: 'alice' } }).respond(toolCallId, { output: 'here' });
      // The segment still ends where it did; the chat goes on.
      expect(await chunksOf(await ui.ask(`/${encodeURIComponent(segment)}/stream`))).to.deep.equal(chunks);
      const next = await chunksOf(await ui.ask(`/${encodeURIComponent(segment.replace(/0$/, '1'))}/stream`));
      expect(next[0]).to.include({ type: 'start', messageId: chunks[0].messageId });
      expect(next.map(({ delta }: any) => delta ?? '').join('')).to.equal('[where: "here"] more ');
      const whole = await chunksOf(await ui.ask('/main/stream?startIndex=0'));
      for (let at = 0; at < whole.length - 1; at++)
        expect(await chunksOf(await ui.ask(`/main/stream?startIndex=${at}`))).to.deep.equal(whole.slice(at));
    });

  it('finds an end where there is nothing, and no 204', async () => {
    const { app } = actor();
    const ui = await startUi({ app });
    const nothing = await ui.ask('/main/stream?startIndex=0');
    expect(nothing.status).to.equal(200);
    expect(await chunksOf(nothing)).to.deep.equal([{ type: 'finish', finishReason: 'other' }, '[DONE]']);
    expect((await ui.ask('/main/stream?startIndex=-1')).status).to.equal(400);
  });
});
