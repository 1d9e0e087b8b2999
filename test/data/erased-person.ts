import { expect } from 'chai';
import { copyLines } from '../../server/copies/read-store.js';
import { defineApp, type Store } from '../../server/index.js';
import { collect } from '../support/client.js';
import { get, post, startGateway } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const ALICE = { id: 'planted-alice' };
const BOB = { id: 'bob' };
const PLANTED = 'planted-text-of-alice';

/** A store, and all that it has on the disk. */
export interface ReadableStore {
  readonly store: Store;
  bytes(): string;
}

const app = defineApp({
  async *run(turn) {
    yield `${turn.text}, I was told`;
  },
});

/** A session of Bob with Alice in it, who has done there whatever a grant allows, and one of her own. */
async function together(store: Store, config = {}) {
  const limits = { auditMs: 86_400_000, sendsPerSecond: Number.POSITIVE_INFINITY };
  const started = await startGateway({ app, auth: byName, store, limits, ...config });
  const { url } = started;
  const call = async (who: { id: string }, path: string, body: object) => {
    const answer = await post(`${url}/${path}`, { sessionId: 'main', ...body }, as(who.id));
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).to.equal(200);
    return answer.body;
  };
  await call(BOB, 'send', { message: 'from bob' });
  const { grant } = await call(BOB, 'share', { with: { userId: ALICE.id }, as: 'operator' });
  const { sessionId } = grant;
  const stream = await openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, {
    headers: as(ALICE.id),
  });
  const { runId } = await call(ALICE, 'send', { sessionId, message: PLANTED });
  const { id: cursor } = await stream.until(
    ({ event, data }) => event === 'message_end' && data.runId === runId,
  );
  const { messages } = (await get(`${url}/history?sessionId=main`, as(BOB.id))).body;
  await call(ALICE, 'read', { sessionId, cursor });
  await call(ALICE, 'react', { sessionId, messageId: messages[0].id, value: 'up' });
  await call(ALICE, 'schedule', { sessionId, id: 'daily', message: PLANTED, every: { ms: 3_600_000 } });
  await call(ALICE, 'take-over', { sessionId, reason: PLANTED });
  await call(ALICE, 'send', { sessionId: 'own', message: PLANTED });
  return { ...started, stream, sessionId };
}

const linesOf = async (store: Store): Promise<readonly string[]> =>
  (await collect(copyLines(store))).map((line) => JSON.stringify(line));

/** What is left of a person who was erased, on a store. */
export function describeErasedPerson(name: string, open: () => Promise<ReadableStore>): void {
  describe(`a person who was erased from ${name}`, () => {
    it('has no right any more that others gave, nor anything that was set by it', async () => {
      const { store } = await open();
      const { gateway, url, stream, sessionId } = await together(store);
      await gateway.erase({ user: ALICE });
      await stream.ended;
      expect(stream.logged.slice(-3).map(({ event, data }) => [event, data.by])).to.deep.equal([
        ['grant_removed', 'gateway'],
        ['schedule_unset', 'gateway'],
        ['control_moved', 'gateway'],
      ]);
      expect((await get(`${url}/history?sessionId=${sessionId}`, as(ALICE.id))).status).to.equal(404);
      expect((await get(`${url}/sessions?shared=true`, as(ALICE.id))).body.sessions).to.deep.equal([]);
      // What was said in a session of another is that one's.
      const { body } = await get(`${url}/history?sessionId=main`, as(BOB.id));
      expect(body.messages[2]).to.include({ senderId: ALICE.id });
      const named = (await linesOf(store)).filter((line) => line.includes('planted'));
      expect(named.filter((line) => !/^\{"(events|end|rows|log)":/.test(line))).to.deep.equal([]);
    });

    it('is in no byte of it where the sessions of others are erased as well', async () => {
      const { store, bytes } = await open();
      const { gateway } = await together(store);
      for (const planted of [PLANTED, ALICE.id]) expect(bytes(), 'it was there').to.include(planted);
      await gateway.erase('main', { user: BOB });
      await gateway.erase({ user: ALICE });
      for (const planted of [PLANTED, ALICE.id]) expect(bytes()).not.to.include(planted);
    });

    it('loses what others gave where this gateway has no such app', async () => {
      const { store } = await open();
      const there = await together(store, { apps: { old: app }, app: undefined, defaultApp: 'old' });
      await there.gateway.close();
      await store.open();
      const { gateway } = await startGateway({ app, auth: byName, store });
      await gateway.erase({ user: ALICE });
      const grants = (await linesOf(store)).filter((line) => line.includes('"kind":"grant'));
      expect(grants).to.deep.equal([]);
    });
  });
}
