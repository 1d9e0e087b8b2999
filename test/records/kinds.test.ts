import { expect } from 'chai';
import { addPush, pushesOf } from '../../server/features/notices/subscriptions.js';
import { memoryStore } from '../../server/index.js';
import { OwnerRoom } from '../../server/records/owner-room.js';
import type { StoredRecord } from '../../server/stores/records.js';
import type { Store } from '../../server/stores/store.js';
import { begin, told } from '../grants/cast.js';
import { FAST, get, post } from '../support/gateway.js';
import { laterStore } from '../support/later-store.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';
import { as } from '../support/users.js';

const NAMES = Array.from({ length: 100 }, (_, n) => `s${n}`);
const YEARLY = { message: 'hi', every: '0 9 1 1 *' };
const ANN = { scope: '[null,"ann"]', app: 'default' };

/** How many answers have each status. */
function counted(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const kindsOf = async (store: Store, name: string): Promise<readonly string[]> =>
  (await store.records({ home: { ...ANN, name }, limit: 1000 })).map(({ kind }) => kind);

describe('kinds of records', () => {
  for (const [what, made] of [
    ['memory', () => memoryStore()],
    ['a store that answers later', () => laterStore(memoryStore())],
  ] as const) {
    describe(`on ${what}`, () => {
      it('are bounded for a person in all sessions together, also by calls at once: schedules', async () => {
        const { url, ann } = await begin({ store: made(), limits: { ...FAST, schedulesPerUser: 32 } });
        const set = (sessionId: string) =>
          post(`${url}/schedule`, { sessionId, id: 'daily', ...YEARLY }, ann);
        const answers = await Promise.all(NAMES.map(set));
        expect(counted(answers)).to.deep.equal({ 200: 32, 507: 68 });
        const full = answers.find(({ status }) => status === 507)!;
        expect(full.body.error.message).to.contain('limits.schedulesPerUser');
        // One that is set again takes its own place, and another person has room of their own.
        const mine = NAMES.filter((_, n) => answers[n]!.status === 200)[0]!;
        expect(told(await set(mine))).to.deep.equal([200, undefined]);
        const other = await post(`${url}/schedule`, { sessionId: 'main', ...YEARLY }, as('ben'));
        expect(told(other)).to.deep.equal([200, undefined]);
        await post(`${url}/unschedule`, { sessionId: mine, id: 'daily' }, ann);
        expect(told(await set('later'))).to.deep.equal([200, undefined]);
      });

      it('are bounded for a person in all sessions together, also by calls at once: grants', async () => {
        const { url, ann, share } = await begin({ store: made(), limits: { ...FAST, sharedPerUser: 32 } });
        await Promise.all(NAMES.map((sessionId) => post(`${url}/send`, { sessionId, message: 'hi' }, ann)));
        const give = (name: string) => share({ with: { userId: 'ben' }, as: 'viewer' }, ann, name);
        expect(counted(await Promise.all(NAMES.map(give)))).to.deep.equal({ 200: 32, 507: 68 });
      });

      it('are bounded in a session, also by calls at once', async () => {
        const limits = { ...FAST, grantsPerSession: 32, schedulesPerSession: 32 };
        const { url, ann, send, share } = await begin({ store: made(), limits });
        await send('hi');
        const give = (name: string) => share({ with: { userId: name }, as: 'viewer' });
        const set = (id: string) => post(`${url}/schedule`, { sessionId: 'main', id, ...YEARLY }, ann);
        const [given, kept] = await Promise.all([Promise.all(NAMES.map(give)), Promise.all(NAMES.map(set))]);
        expect(counted(given)).to.deep.equal({ 200: 32, 507: 68 });
        expect(counted(kept)).to.deep.equal({ 200: 32, 507: 68 });
      });

      it('end with their conversation, in the append that closes it', async () => {
        const store = made();
        const { url, ann, send, share } = await begin({ store, limits: FAST });
        await send('hi');
        await share({ with: { userId: 'ben' }, as: 'viewer' });
        await post(`${url}/schedule`, { sessionId: 'main', id: 'daily', ...YEARLY }, ann);
        await post(`${url}/take-over`, { sessionId: 'main', untilMs: 60_000 }, ann);
        expect(await kindsOf(store, 'main')).to.include.members([
          ...['control', 'grant', 'grant-address', 'schedule'],
        ]);
        await post(`${url}/close`, { sessionId: 'main' }, ann);
        const left = await kindsOf(store, 'main');
        for (const kind of ['control', 'grant', 'grant-address', 'schedule'])
          expect(left).not.to.include(kind);
        // The next conversation of that name begins without them.
        await send('again');
        expect((await get(`${url}/grants?sessionId=main`, ann)).body.grants).to.deep.equal([]);
        expect((await get(`${url}/schedules?sessionId=main`, ann)).body.schedules).to.deep.equal([]);
      });
    });
  }

  it('of a past conversation are none in the next one, where its end has overlooked them', async () => {
    const inner = memoryStore();
    // The look of a close comes before what is on its way.
    const records: Store['records'] = (query) =>
      'home' in query && query.kind === undefined ? [] : inner.records(query);
    const store = overriding(inner, { records });
    const limits = { ...FAST, grantsPerSession: 1, schedulesPerSession: 1 };
    const { url, ann, send, share } = await begin({ store, limits });
    const give = () => share({ with: { userId: 'ben' }, as: 'viewer' });
    const set = (id: string) => post(`${url}/schedule`, { sessionId: 'main', id, ...YEARLY }, ann);
    await send('hi');
    expect(told(await give())).to.deep.equal([200, undefined]);
    expect(told(await set('one'))).to.deep.equal([200, undefined]);
    await post(`${url}/close`, { sessionId: 'main' }, ann);
    expect(await kindsOf(inner, 'main')).to.include.members(['grant', 'schedule']);
    await send('again');
    expect((await get(`${url}/grants?sessionId=main`, ann)).body.grants).to.deep.equal([]);
    expect((await get(`${url}/schedules?sessionId=main`, ann)).body.schedules).to.deep.equal([]);
    // They take no room either.
    expect(told(await give())).to.deep.equal([200, undefined]);
    expect(told(await set('two'))).to.deep.equal([200, undefined]);
    expect(told(await set('one'))).to.deep.equal([507, 'QUOTA_EXCEEDED']);
  });

  it('are changed anew where somebody else has written one meanwhile', async () => {
    const inner = memoryStore();
    let isTaken = false;
    const append: Store['append'] = (log, events, options) => {
      const drop = options.records?.find(({ kind, value }) => kind === 'schedule' && value === undefined);
      // A worker takes it, as if it were due.
      if (drop && !isTaken) {
        const [there] = inner.records({
          home: log,
          kind: drop.kind,
          id: drop.id,
          limit: 1,
        }) as StoredRecord[];
        inner.changeRecords(log, [{ kind: drop.kind, id: drop.id, value: there!.value }]);
        isTaken = true;
      }
      return inner.append(log, events, options);
    };
    const { url, ann } = await begin({ store: overriding(inner, { append }), limits: FAST });
    await post(`${url}/schedule`, { sessionId: 'main', id: 'one', ...YEARLY }, ann);
    const unset = await post(`${url}/unschedule`, { sessionId: 'main', id: 'one' }, ann);
    expect(told(unset)).to.deep.equal([200, undefined]);
    expect(isTaken).to.equal(true);
    expect((await get(`${url}/schedules?sessionId=main`, ann)).body.schedules).to.deep.equal([]);
    expect(await kindsOf(inner, 'main')).not.to.include('schedule');
  });

  it('of a link end with the conversation, as the link does', async () => {
    const store = memoryStore();
    const { url, ann, send, shared } = await begin({ store, limits: FAST, shareLinks: { upTo: 'member' } });
    await send('hi');
    const { sessionId, token } = await shared({ with: { link: true }, as: 'member' });
    await send('I read', as(`${token}.one`), sessionId);
    const home = { ...ANN, name: 'main' };
    const places = async () =>
      (await store.records({ home, kind: 'read', limit: 9 })).filter(({ id }) => id.includes('guest'));
    expect(await places()).to.have.length(1);
    await post(`${url}/close`, { sessionId: 'main' }, ann);
    expect(await places()).to.deep.equal([]);
  });

  it('go with their person, also from the sessions of others', async () => {
    const store = memoryStore();
    const { gateway, send, shared } = await begin({ store, limits: FAST });
    await send('hi');
    const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
    await send('I read', as('ben'), sessionId);
    const places = () => store.records({ owner: '[null,"ben"]', kind: 'read', limit: 9 });
    expect(await places()).to.have.length(1);
    await gateway.erase({ user: { id: 'ben' } });
    expect(await places()).to.deep.equal([]);
    const left = await kindsOf(store, 'main');
    expect(left).to.include('read').and.not.include('grant');
  });

  it('are bounded for a person also in a home of many: browsers', async () => {
    const store = laterStore(memoryStore());
    const owners = new OwnerRoom(store);
    const add = (n: number) =>
      addPush(
        { store, owners },
        { scope: 'of many', userKey: 'ann' },
        { endpoint: `https://push.test/${n % 50}`, keys: { p256dh: 'p', auth: 'a' }, most: 16 },
      ).then(
        () => 'added',
        ({ code }) => code,
      );
    const answers = await Promise.all(NAMES.map((_, n) => add(n)));
    expect(await pushesOf(store, 'ann')).to.have.length(16);
    // The first 16 subscribe again in the second half, and take their own places.
    expect(answers.filter((answer) => answer === 'added')).to.have.length(32);
    expect(answers.filter((answer) => answer === 'QUOTA_EXCEEDED')).to.have.length(68);
  });

  it('take a record of another form for none, and nothing else is lost', async () => {
    const store = memoryStore();
    const it = await begin({ store, limits: FAST });
    const { url, ann, send, share } = it;
    await send('hi');
    await share({ with: { userId: 'ben' }, as: 'viewer' });
    await post(`${url}/schedule`, { sessionId: 'main', id: 'daily', ...YEARLY }, ann);
    const home = { ...ANN, name: 'main' };
    for (const value of ['{', 'null', '[]', '{"grant":7}', '"x"'])
      for (const kind of ['grant', 'schedule', 'control'])
        store.changeRecords(home, [{ kind, id: `odd ${value}`, value }]);
    expect((await get(`${url}/grants?sessionId=main`, ann)).body.grants).to.have.length(1);
    expect((await get(`${url}/schedules?sessionId=main`, ann)).body.schedules).to.have.length(1);
    expect(told(await share({ with: { userId: 'cyd' }, as: 'viewer' }))).to.deep.equal([200, undefined]);
  });

  it('give a due record of another form up, where an operator sees it', async () => {
    const store = memoryStore();
    const { url, ann, gateway, send } = await begin({ store, limits: FAST });
    await send('hi');
    const home = { ...ANN, name: 'main' };
    for (const kind of ['schedule', 'grant', 'child-end', 'control'])
      store.changeRecords(home, [{ kind, id: 'odd', value: '{"grant":7}', dueAt: 1 }]);
    // The worker looks when something else falls due.
    await post(`${url}/schedule`, { sessionId: 'other', message: 'hi', at: Date.now() }, ann);
    const dead = async () => {
      const kinds: string[] = [];
      for await (const { kind } of gateway.deadWork()) kinds.push(kind);
      return kinds.sort();
    };
    await until(async () => (await dead()).length === 4);
    expect(await dead()).to.deep.equal(['child-end', 'control', 'grant', 'schedule']);
  });
});
