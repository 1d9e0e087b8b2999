import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp } from '../../server/index.js';
import { heldApp } from '../support/apps.js';
import { jsonHeaders, startGateway, TOKEN } from '../support/gateway.js';
import { fetchUntilServed, postUntilTaken } from '../support/insist.js';
import { openStream, postStream } from '../support/sse-client.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

const limits = { sendsPerSecond: Infinity, queueLength: 1000 };
const asked = { prefer: 'respond-async' };

/** Yields a few words, then ends, with a pause between any two that the run's text asks for. */
const words = defineApp({
  async *run(turn) {
    for (const pause of turn.text.split('')) {
      yield 'word ';
      if (pause === 'p') await new Promise(setImmediate);
    }
    return { usage: { outputTokens: turn.text.length } };
  },
});

for (const on of STORES) {
  describe(`idempotent sends (${on.name})`, () => {
    let number = 0;

    it('N concurrent sends with one key start one run and get equal answers, other bodies get 422', async () => {
      const model = testStore(on);
      const { url } = await startGateway({ app: words, store: model.store, limits });
      const attempt = fc.record({
        body: fc.constantFrom('same', 'other'),
        how: fc.constantFrom('json', 'async', 'header'),
        delay: fc.nat(3),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.stringMatching(/^[px]{1,12}$/),
          fc.array(attempt, { minLength: 2, maxLength: 10 }),
          async (text, attempts) => {
            const sessionId = `s${++number}`;
            const key = `key-${number}`;
            const answers = await Promise.all(
              attempts.map(async ({ body, how, delay }) => {
                for (let i = 0; i < delay; i++) await new Promise(setImmediate);
                const message = body === 'same' ? text : `${text}!`;
                const keyed = how === 'header' ? {} : { idempotencyKey: key };
                const headers = {
                  ...(how === 'async' && asked),
                  ...(how === 'header' && { 'idempotency-key': key }),
                };
                return {
                  ...(await postUntilTaken(
                    `${url}/send`,
                    { sessionId, message, ...keyed },
                    headers as never,
                  )),
                  how,
                };
              }),
            );
            const accepted = model.eventsOf(sessionId).filter((event) => event.type === 'message_accepted');
            expect(accepted).to.have.length(1);
            const good = answers.filter(({ status }) => status === 200 || status === 202);
            const bad = answers.filter(({ status }) => status === 422);
            expect(good.length + bad.length).to.equal(answers.length);
            expect(new Set(good.map(({ body }) => body.runId))).to.deep.equal(new Set([accepted[0]!.runId]));
            for (const { body } of bad) expect(body.error.code).to.equal('IDEMPOTENCY_CONFLICT');
            const results = good.filter(({ how }) => how !== 'async').map(({ body }) => body);
            for (const result of results) expect(result).to.deep.equal(results[0]);
            const ends = model.eventsOf(sessionId).filter((event) => event.type === 'message_end');
            expect(ends.length).to.be.at.most(1);
          },
        ),
        { numRuns: casesOn(on, 40) },
      );
    });

    it('a retry at any time rejoins the run, or gets its result', async () => {
      const model = testStore(on);
      const { url } = await startGateway({ app: words, store: model.store, limits });
      await fc.assert(
        fc.asyncProperty(
          fc.stringMatching(/^[px]{1,10}$/),
          fc.array(fc.nat(12), { minLength: 1, maxLength: 6 }),
          async (text, delays) => {
            const body = { sessionId: `t${++number}`, message: text, idempotencyKey: `k${number}` };
            const first = postUntilTaken(`${url}/send`, body);
            const retries = delays.map(async (delay) => {
              for (let i = 0; i < delay; i++) await new Promise(setImmediate);
              return postUntilTaken(`${url}/send`, body);
            });
            const { status, body: result } = await first;
            expect(status).to.equal(200);
            for (const retry of await Promise.all(retries)) {
              expect(retry.status, JSON.stringify(retry.body)).to.equal(200);
              expect(retry.body).to.deep.equal(result);
            }
          },
        ),
        { numRuns: casesOn(on, 40) },
      );
    });
  });
}

describe('a key', () => {
  it('joins a repeated send to its run from the start, as SSE with the ids of the log', async () => {
    const { app, held } = heldApp('a', 'b');
    const model = testStore();
    const { url } = await startGateway({ app, store: model.store });
    const init = {
      method: 'POST',
      headers: jsonHeaders(),
      body: JSON.stringify({ sessionId: 'm', message: 'x', idempotencyKey: 'k' }),
    };
    const first = await openStream(`${url}/send`, init);
    await first.until(({ event }) => event === 'content_delta');
    first.close();
    const second = await openStream(`${url}/send`, init);
    held.open();
    await second.ended;
    const cursors = model.eventsOf('m').map((event) => event.cursor);
    expect(second.logged.map(({ id }) => id)).to.deep.equal(cursors);
    expect(second.logged.at(-1)?.event).to.equal('message_end');
    const third = await openStream(`${url}/send`, init);
    await third.ended;
    expect(third.logged).to.deep.equal(second.logged);
  });

  it('ends the stream of a retry that has already seen the end of its run', async () => {
    const model = testStore();
    const { url } = await startGateway({ app: words, store: model.store });
    const body = JSON.stringify({ sessionId: 'm', message: 'x', idempotencyKey: 'k' });
    const first = await openStream(`${url}/send`, { method: 'POST', headers: jsonHeaders(), body });
    await first.ended;
    for (const event of first.logged) {
      const headers = { ...jsonHeaders(), 'last-event-id': event.id! };
      const again = await openStream(`${url}/send`, { method: 'POST', headers, body });
      await again.ended;
      const rest = first.logged.slice(first.logged.indexOf(event) + 1);
      expect(again.logged.map(({ id }) => id)).to.deep.equal(rest.map(({ id }) => id));
    }
  });

  it('gets the folded result once retention has cut the run, as JSON and as SSE', async () => {
    const model = testStore();
    const { url } = await startGateway({
      app: words,
      store: model.store,
      limits: { ...limits, retention: { events: 5 } },
    });
    const body = { sessionId: 'm', message: 'ppp', idempotencyKey: 'k' };
    const { body: result } = await postUntilTaken(`${url}/send`, body);
    expect(result.usage).to.deep.equal({ outputTokens: 3 });
    for (let i = 0; i < 4; i++) await postUntilTaken(`${url}/send`, { sessionId: 'm', message: 'pppp' });
    const status = await fetch(`${url}/status?sessionId=m`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(((await status.json()) as { first: number }).first).to.be.greaterThan(10);
    const again = await postUntilTaken(`${url}/send`, body);
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal(result);
    const stream = await postStream(`${url}/send`, body);
    await stream.ended;
    expect(stream.events).to.have.length(1);
    const [end] = stream.events;
    expect(end).to.include({ event: 'message_end', id: result.cursor });
    expect(end?.data).to.deep.include({ message: result.message, stopReason: 'end', runId: result.runId });
    const count = model.eventsOf('m').filter((event) => event.type === 'message_accepted').length;
    expect(count).to.equal(5);
  });

  it('answers also while and after its session is closed', async () => {
    const { app } = heldApp('a', '');
    for (const on of STORES) {
      const model = testStore(on);
      const { url } = await startGateway({ app, store: model.store });
      const body = { sessionId: 'm', message: 'x', idempotencyKey: 'k' };
      const first = postUntilTaken(`${url}/send`, body);
      const where = `${url}/events?sessionId=m&from=earliest&token=${TOKEN}`;
      const stream = await openStream(where, {}, fetchUntilServed);
      await stream.until(({ event }) => event === 'content_delta');
      const closing = postUntilTaken(`${url}/close`, { sessionId: 'm' });
      const answers = await Promise.all(Array.from({ length: 8 }, () => postUntilTaken(`${url}/send`, body)));
      await closing;
      answers.push(await postUntilTaken(`${url}/send`, body), await first);
      for (const { status, body: answer } of answers) {
        expect(status, JSON.stringify(answer)).to.equal(200);
        expect(answer).to.deep.equal(answers[0]!.body);
        expect(answer.stopReason).to.equal('aborted');
      }
    }
  });

  it('tells bodies apart that only look alike', async () => {
    const { url } = await startGateway({ app: words });
    const body = { sessionId: 'm', message: 'x', idempotencyKey: 'k' };
    const send = async (rest: object): Promise<number> =>
      (await postUntilTaken(`${url}/send`, { ...body, ...rest })).status;
    expect(await send({ metadata: { a: { b: 1, c: 2 } } })).to.equal(200);
    expect(await send({ metadata: { a: { c: 2, b: 1 } } }), 'the order of keys is no difference').to.equal(
      200,
    );
    for (const metadata of [
      {
        a: [
          ['b', 1],
          ['c', 2],
        ],
      },
      { a: { b: '1', c: 2 } },
      { a: {} },
      {},
    ]) {
      expect(await send({ metadata }), JSON.stringify(metadata)).to.equal(422);
    }
    expect(await send({ metadata: { a: { b: 1, c: 2 } }, onBusy: 'reject' })).to.equal(422);
  });
});
