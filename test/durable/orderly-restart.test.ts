import { expect } from 'chai';
import { defineApp, GatewayError, type Message } from '../../server/index.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { get, post, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { ends, heldApp, isEnd, read, respondAsync } from './restarts.js';

describe('an orderly restart', () => {
  it('keeps queued messages for the next process and ends the active run', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: heldApp().app, limits: { drainMs: 10 } });
    const runIds: string[] = [];
    for (const message of ['a', 'b']) {
      const { body } = await post(`${first.url}/send`, { sessionId: 'main', message }, respondAsync);
      runIds.push(body.runId);
    }
    await first.gateway.close();
    const { app, held } = heldApp();
    held.open();
    const second = await startDurable(path, { app });
    const stream = await read(second.url);
    await stream.until(({ event, data }) => event === 'message_end' && data.runId === runIds[1]);
    expect(ends(stream)).to.deep.equal([
      [runIds[0], 'lost'],
      [runIds[1], 'end'],
    ]);
  });

  it('hands the run of a resumable app on without an end', async () => {
    const path = newDatabase();
    const first = await startDurable(path, {
      app: heldApp({ resumable: true }).app,
      limits: { drainMs: 10 },
    });
    const { body } = await post(`${first.url}/send`, { sessionId: 'main', message: 'a' }, respondAsync);
    await (await read(first.url)).until(({ event }) => event === 'content_delta');
    await first.gateway.close();
    const { app, held } = heldApp({ resumable: true });
    held.open();
    const second = await startDurable(path, { app });
    const stream = await read(second.url);
    await stream.until(isEnd);
    expect(ends(stream)).to.deep.equal([[body.runId, 'end']]);
    expect(stream.logged.at(-1)?.data.message.content).to.deep.equal([
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'one a' },
    ]);
  });

  it('still says how each answer ended, in the history and in a snapshot, also behind a cut', async () => {
    const path = newDatabase();
    const said = gate();
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'fail') throw new GatewayError({ code: 'UPSTREAM_FAILED' });
        if (turn.text === 'seen') {
          const seen = turn.history.map(({ content }) => content.length);
          return { text: seen.join(), usage: { inputTokens: 3 } };
        }
        yield 'half';
        said.open();
        await new Promise(() => {});
      },
    });
    const limits = { retention: { events: 4 } };
    const first = await startDurable(path, { app, limits });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'fail' });
    const cut = post(`${first.url}/send`, { sessionId: 'main', message: 'cut' });
    await said.passed;
    await post(`${first.url}/abort`, { sessionId: 'main' });
    await cut;
    await post(`${first.url}/send`, { sessionId: 'main', message: 'seen' });
    await first.gateway.close();

    const { url } = await startDurable(path, { app, limits });
    expect((await get(`${url}/status?sessionId=main`)).body.first).to.be.greaterThan(4);
    const { body } = await get(`${url}/history?sessionId=main`);
    const stream = await openStream(`${url}/events?sessionId=main&from=snapshot&token=${TOKEN}`);
    const { data } = await stream.until(({ event }) => event === 'snapshot');
    expect(data.state.messages).to.deep.equal(body.messages);
    const answers = body.messages.filter(({ role }: Message) => role === 'assistant');
    expect(answers.map(({ stopReason }: Message) => stopReason)).to.deep.equal(['error', 'aborted', 'end']);
    expect(answers[0]).to.deep.include({ content: [], app: 'default' });
    expect(answers[0].error.code).to.equal('UPSTREAM_FAILED');
    expect(answers[1].content).to.deep.equal([{ type: 'text', text: 'half' }]);
    // What failed without a word is not for the next turn.
    expect(answers[2].content).to.deep.equal([{ type: 'text', text: '1,1,1' }]);
    expect(answers[2].usage).to.deep.equal({ inputTokens: 3 });
    for (const { runId, endedAt, createdAt } of answers) {
      expect(runId).to.be.a('string');
      expect(endedAt).to.be.at.least(createdAt);
    }
  });

  it('brings history back page by page through everything that was cut, and lists the stored sessions', async () => {
    const path = newDatabase();
    const echo = defineApp({ run: (turn) => `re: ${turn.text}` });
    const limits = { retention: { events: 20 }, sendsPerSecond: Number.POSITIVE_INFINITY };
    const first = await startDurable(path, { app: echo, limits });
    for (let i = 0; i < 40; i++) await post(`${first.url}/send`, { sessionId: 'main', message: `m${i}` });
    for (let i = 0; i < 5; i++) await post(`${first.url}/send`, { sessionId: `s${i}`, message: 'x' });
    await first.gateway.close();

    const { url, gateway } = await startDurable(path, { app: echo, limits });
    expect((await get(`${url}/status?sessionId=main`)).body.first).to.be.greaterThan(50);
    const texts: string[] = [];
    let before = '';
    do {
      const { body } = await get(`${url}/history?sessionId=main&limit=7${before && `&before=${before}`}`);
      texts.unshift(...body.messages.map((message: any) => message.content[0].text));
      before = body.cursor ?? '';
    } while (before !== '');
    expect(texts).to.deep.equal(Array.from({ length: 40 }, (_, i) => [`m${i}`, `re: m${i}`]).flat());

    const ids: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await gateway.sessions({ limit: 4, ...(cursor !== undefined && { before: cursor }) });
      ids.push(...page.sessions.map(({ sessionId }) => sessionId));
      cursor = page.cursor;
    }
    expect(ids).to.deep.equal(['s4', 's3', 's2', 's1', 's0', 'main']);
  });
});
