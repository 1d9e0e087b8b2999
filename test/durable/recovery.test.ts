import { statSync, truncateSync } from 'node:fs';
import { expect } from 'chai';
import { z } from 'zod';
import { defineApp, tool } from '../../server/index.js';
import { StoreError } from '../../server/stores/append.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { passing } from '../support/overriding.js';
import { refusingStore } from '../support/refusing-store.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { until } from '../support/until.js';

const respondAsync = { prefer: 'respond-async' };

/** Says `one `, waits for the gate, and goes on; notes who asked. */
function heldApp(options: { resumable?: boolean } = {}) {
  const held = gate();
  const users: unknown[] = [];
  const app = defineApp({
    ...options,
    async *run(turn) {
      users.push(turn.user);
      yield 'one ';
      await held.passed;
      yield turn.text;
    },
  });
  return { app, held, users };
}

function read(url: string, sessionId = 'main', from = 'earliest'): Promise<RawStream> {
  return openStream(`${url}/events?sessionId=${sessionId}&from=${from}&token=${TOKEN}`);
}

const ends = (stream: RawStream): unknown[] =>
  stream.logged
    .filter(({ event }) => event === 'message_end')
    .map(({ data }) => [data.runId, data.stopReason]);
const isEnd = ({ event }: { event: string }): boolean => event === 'message_end';

describe('after a crash', () => {
  it('a run that was under way ends once as lost, with what it had said, before anybody asks for its session', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: heldApp().app });
    const { body } = await post(`${first.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    await (await read(first.url)).until(({ event }) => event === 'content_delta');

    const copy = crashed(path);
    const lost = gate<unknown>();
    const second = await startDurable(copy, { app: heldApp().app, onDisconnect: 'continue' });
    second.gateway.on('run:ended', (ended) => lost.open(ended));
    const stream = await read(second.url);
    await stream.until(isEnd);
    expect(ends(stream)).to.deep.equal([[body.runId, 'lost']]);
    const terms = stream.logged.map(({ id }) => Number(id!.split('.')[1]));
    expect(terms.at(-1), 'under a new term').to.be.greaterThan(terms[0]!);
    expect(stream.logged.at(-1)?.data.message.content).to.deep.equal([{ type: 'text', text: 'one ' }]);
    expect(stream.logged.map(({ id }) => Number(id!.split('.')[2]))).to.deep.equal(
      stream.logged.map((_, i) => i + 1),
    );
  });

  it('takes up what was left also where the store could not tell of it at first', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: heldApp().app });
    const { body } = await post(`${first.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    await (await read(first.url)).until(({ event }) => event === 'content_delta');
    const { store, outage } = refusingStore(sqliteStore({ path: crashed(path) }), 'unfinished');
    outage.on = true;
    const lost = gate<{ readonly runId: string; readonly stopReason: string }>();
    const { gateway, url } = await startGateway({ app: heldApp().app, store });
    gateway.on('run:ended', (ended) => lost.open(ended));
    await get(`${url}/sessions`);
    await until(() => outage.refused > 0);
    outage.on = false;
    expect(await lost.passed).to.include({ runId: body.runId, stopReason: 'lost' });
  });

  it('goes on with a run also where what it was told could not be read at first', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: heldApp({ resumable: true }).app });
    const { body } = await post(`${first.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    await (await read(first.url)).until(({ event }) => event === 'content_delta');
    // Each read is the one that fails, once: the fold of the log, or what the run needs. Which budgets there are
    // can't be read at first.
    for (let at = 0, reads = 1; at < reads; at++) {
      let asked = 0;
      const inner = sqliteStore({ path: crashed(path) });
      let budgets = 0;
      const store = passing(inner, (name, call, [named]) => {
        const isBudgets = name === 'records' && (named as { readonly kind?: string }).kind === 'budget';
        const isRefused = isBudgets ? budgets++ < 3 : name === 'read' && asked++ === at;
        return isRefused ? Promise.reject(new StoreError('UNAVAILABLE', 'Refused')) : call();
      });
      const { app, held } = heldApp({ resumable: true });
      const { gateway, url } = await startGateway({ app, store });
      held.open();
      const stream = await read(url);
      await stream.until(isEnd);
      expect(ends(stream), `read ${at} failed`).to.deep.equal([[body.runId, 'end']]);
      reads = Math.max(reads, asked - 1);
      await gateway.close();
    }
  });

  it('ends lost runs at the start, without a request', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: heldApp().app });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    await (await read(first.url)).until(({ event }) => event === 'content_delta');
    const copy = crashed(path);
    const second = await startDurable(copy, { app: heldApp().app });
    await second.gateway.close();
    const third = await startDurable(crashed(copy), { app: heldApp().app });
    const stream = await read(third.url);
    await stream.until(isEnd);
    expect(ends(stream)).to.have.length(1);
    const terms = new Set(stream.logged.map(({ id }) => id!.split('.')[1]));
    expect(terms.size, 'the second gateway wrote the end').to.equal(2);
  });

  it('messages that were accepted and had not begun run, in order and for their sender', async () => {
    const path = newDatabase();
    const alice = { id: 'alice', roles: ['admin'] };
    const auth = { type: 'token', token: TOKEN, user: alice } as const;
    const first = await startDurable(path, { app: heldApp().app, auth });
    const runIds: string[] = [];
    for (const message of ['a', 'b', 'c']) {
      const { body } = await post(
        `${first.url}/send`,
        { sessionId: 'main', message, metadata: { n: message } },
        respondAsync,
      );
      runIds.push(body.runId);
    }
    await (await read(first.url)).until(({ event }) => event === 'content_delta');

    const { app, held, users } = heldApp();
    held.open();
    const second = await startDurable(crashed(path), { app, auth });
    const stream = await read(second.url);
    await stream.until(({ event, data }) => event === 'message_end' && data.runId === runIds[2]);
    expect(ends(stream)).to.deep.equal([
      [runIds[0], 'lost'],
      [runIds[1], 'end'],
      [runIds[2], 'end'],
    ]);
    expect(users).to.deep.equal([alice, alice]);
    const { body } = await get(`${second.url}/history?sessionId=main`);
    const texts = body.messages.map((message: any) => message.content[0].text);
    expect(texts).to.deep.equal(['a', 'one ', 'b', 'one b', 'c', 'one c']);
  });

  it('an idempotency key still names its run: lost, finished, or still to come', async () => {
    const path = newDatabase();
    const quick = heldApp();
    quick.held.open();
    const config = { apps: { held: heldApp().app, quick: quick.app }, defaultApp: 'held' };
    const first = await startDurable(path, config);
    const send = (url: string, sessionId: string, message: string, key: string) =>
      post(`${url}/send`, { sessionId, message, idempotencyKey: key }, respondAsync);
    const done = await post(`${first.url}/send`, {
      sessionId: 'quick:m',
      message: 'q',
      idempotencyKey: 'k0',
    });
    const lost = await send(first.url, 'm', 'a', 'k1');
    const queued = await send(first.url, 'm', 'b', 'k2');
    await (await read(first.url, 'm')).until(({ event }) => event === 'content_delta');

    const { app, held } = heldApp();
    held.open();
    const second = await startDurable(crashed(path), { ...config, apps: { ...config.apps, held: app } });
    const answers = await Promise.all([
      post(`${second.url}/send`, { sessionId: 'quick:m', message: 'q', idempotencyKey: 'k0' }),
      post(`${second.url}/send`, { sessionId: 'm', message: 'a', idempotencyKey: 'k1' }),
      post(`${second.url}/send`, { sessionId: 'm', message: 'b', idempotencyKey: 'k2' }),
    ]);
    expect(answers[0].body).to.deep.equal(done.body);
    expect(answers.map(({ body }) => body.runId)).to.deep.equal([
      done.body.runId,
      lost.body.runId,
      queued.body.runId,
    ]);
    expect(answers.map(({ body }) => body.stopReason)).to.deep.equal(['end', 'lost', 'end']);
    const other = await send(second.url, 'm', 'another body', 'k1');
    expect(other.status).to.equal(422);
  });

  it('a cursor into a tail that was lost with the power answers truncated, also once its number exists again', async () => {
    const path = newDatabase();
    const { app, held } = heldApp();
    const first = await startDurable(path, { app });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'x' }, respondAsync);
    const stream = await read(first.url);
    await stream.until(({ event }) => event === 'content_delta');
    const kept = statSync(`${path}-wal`).size;
    for (let i = 0; i < 20; i++)
      await post(`${first.url}/channel`, { sessionId: 'main', channel: 'c', payload: i });
    const { id } = await stream.until(({ data }) => data.event?.payload === 19);
    const copy = crashed(path);
    expect(statSync(`${copy}-wal`).size).to.be.greaterThan(kept);
    truncateSync(`${copy}-wal`, kept);

    const second = await startDurable(copy, { app });
    held.open();
    // The session is taken up then, in a new term.
    await (await read(second.url)).until(({ event }) => event === 'message_end');
    const resume = () =>
      openStream(`${second.url}/events?sessionId=main&token=${TOKEN}`, { headers: { 'last-event-id': id! } });
    const ahead = await resume();
    const { data } = await ahead.until(({ event }) => event === 'gap');
    expect(data.reason).to.equal('truncated');
    for (let i = 0; i < 30; i++)
      await post(`${second.url}/channel`, { sessionId: 'main', channel: 'c', payload: `new ${i}` });
    const again = await resume();
    expect((await again.until(({ event }) => event === 'gap')).data.reason).to.equal('truncated');
    const { data: snapshot } = await again.until(({ event }) => event === 'snapshot');
    const next = await again.until(
      ({ event }) =>
        event !== 'connected' && event !== 'heartbeat' && event !== 'gap' && event !== 'snapshot',
    );
    expect(Number(next.id!.split('.')[2])).to.equal(Number(snapshot.cursor.split('.')[2]) + 1);
  });
});

describe('a resumable app', () => {
  const remove = (calls: unknown[]) =>
    tool({
      schema: z.object({ path: z.string() }),
      confirm: true,
      handler: async (input: { path: string }) => {
        calls.push(input);
        return `removed ${input.path}`;
      },
    });

  function agent(calls: unknown[], resumable = true) {
    const resumed: unknown[] = [];
    const app = defineApp({
      resumable,
      tools: { remove: remove(calls) },
      async *run(turn) {
        resumed.push(turn.resumed?.content.length ?? null);
        const content = turn.resumed?.content ?? [];
        if (content.length === 0) yield 'Let me see. ';
        if (!content.some((block) => block.type === 'tool_result'))
          yield await turn.callTool('remove', { path: '/x' });
        const name = await turn.ask({ name: 'who', payload: { hint: 1 } });
        yield `, ${name}`;
      },
    });
    return { app, resumed };
  }

  it('goes on with its run: an open confirmation and then an open question are answered after restarts', async () => {
    const calls: unknown[] = [];
    const path = newDatabase();
    const first = await startDurable(path, { app: agent(calls).app });
    const { body: accepted } = await post(
      `${first.url}/send`,
      { sessionId: 'main', message: 'go', idempotencyKey: 'k' },
      respondAsync,
    );
    const { data: asked } = await (await read(first.url)).until(
      ({ event }) => event === 'tool_confirmation_required',
    );

    const path2 = crashed(path);
    const second = await startDurable(path2, { app: agent(calls).app });
    const { body: status } = await get(`${second.url}/status?sessionId=main`);
    expect(status).to.include({ status: 'waiting', runId: accepted.runId });
    const answer = { sessionId: 'main', callId: asked.callId, approved: true };
    expect((await post(`${second.url}/tool-response`, answer)).status).to.equal(200);
    expect((await post(`${second.url}/tool-response`, answer)).body.error.code).to.equal('ALREADY_ANSWERED');
    const { data: question } = await (await read(second.url)).until(
      ({ event }) => event === 'input_required',
    );

    const third = await startDurable(crashed(path2), { app: agent(calls).app });
    const respond = { sessionId: 'main', callId: question.callId, output: 'Ann' };
    expect((await post(`${third.url}/tool-response`, respond)).status).to.equal(200);
    const stream = await read(third.url);
    const { data: end } = await stream.until(isEnd);
    expect(end).to.include({ runId: accepted.runId, stopReason: 'end' });
    expect(calls).to.deep.equal([{ path: '/x' }]);
    const counts = (type: string): number => stream.logged.filter(({ event }) => event === type).length;
    for (const type of [
      'message_start',
      'tool_use',
      'tool_confirmation_required',
      'tool_confirmation_result',
      'input_required',
      'message_end',
    ]) {
      expect(counts(type), type).to.equal(1);
    }
    const text = end.message.content.flatMap((block: any) => (block.type === 'text' ? [block.text] : []));
    expect(text).to.deep.equal(['Let me see. ', 'removed /x', ', Ann']);
    const { body: result } = await post(`${third.url}/send`, {
      sessionId: 'main',
      message: 'go',
      idempotencyKey: 'k',
    });
    expect(result).to.include({ runId: accepted.runId, stopReason: 'end' });
  });

  it('answers a question of turn.ask that was open, and tells the app what it had said', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: agent([]).app });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'go' }, respondAsync);
    const before = await read(first.url);
    const { data: asked } = await before.until(({ event }) => event === 'tool_confirmation_required');
    await post(`${first.url}/tool-response`, { sessionId: 'main', callId: asked.callId, approved: true });
    const { data: question } = await before.until(({ event }) => event === 'input_required');

    const seen: unknown[] = [];
    const app = defineApp({
      resumable: true,
      async *run(turn) {
        seen.push(
          turn.resumed?.content.map((block) => block.type),
          turn.message.content,
          turn.history,
        );
        yield String(await turn.ask({ name: 'who', payload: { hint: 1 } }));
      },
    });
    const second = await startDurable(crashed(path), { app });
    await post(`${second.url}/tool-response`, { sessionId: 'main', callId: question.callId, output: 'Bob' });
    const stream = await read(second.url);
    const { data: end } = await stream.until(isEnd);
    expect(seen).to.deep.equal([
      ['text', 'tool_use', 'tool_result', 'text'],
      [{ type: 'text', text: 'go' }],
      [],
    ]);
    expect(end.message.content.at(-1)).to.deep.equal({ type: 'text', text: 'Bob' });
    expect(stream.logged.filter(({ event }) => event === 'input_required')).to.have.length(1);
  });

  it('leaves a question that it does not ask again unanswered; others end with their run', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: agent([]).app });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'go' }, respondAsync);
    const { data: asked } = await (await read(first.url)).until(
      ({ event }) => event === 'tool_confirmation_required',
    );
    const answer = { sessionId: 'main', callId: asked.callId, approved: true };

    const done = gate();
    const other = defineApp({ resumable: true, run: () => done.passed });
    const second = await startDurable(crashed(path), { app: other });
    const answering = post(`${second.url}/tool-response`, answer);
    const stream = await read(second.url);
    done.open();
    await stream.until(isEnd);
    expect((await answering).status, 'not answered').to.be.oneOf([404, 409]);

    const third = await startDurable(crashed(path), { app: agent([], false).app });
    const lost = await read(third.url);
    await lost.until(isEnd);
    expect(ends(lost).map((end: any) => end[1])).to.deep.equal(['lost']);
    expect((await post(`${third.url}/tool-response`, answer)).status).to.equal(404);
  });
});

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
      { type: 'text', text: 'a' },
    ]);
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
