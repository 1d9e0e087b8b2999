import { expect } from 'chai';
import { sessionSharing } from '../../client/people/index.js';
import { sessionSchedules } from '../../client/schedules/index.js';
import { defineApp, type GatewayConfig } from '../../server/index.js';
import { GatewayError } from '../../shared/errors.js';
import type { GatewayEvent } from '../../shared/events.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { type Fired, isFired } from './begin.js';
import { TestClock } from './test-clock.js';

const MINUTE = 60_000;

interface Seen {
  readonly id: string;
  readonly roles: readonly string[];
  readonly claims: unknown;
}

/** A gateway that knows people by their tokens, and what the app saw of the user of each run. */
async function begin(config: Partial<GatewayConfig<any, any, any>> = {}) {
  const clock = new TestClock();
  const seen: Seen[] = [];
  const app = defineApp({
    run(turn) {
      const { user, trigger } = turn;
      if (user && trigger) seen.push({ id: user.id, roles: user.roles ?? [], claims: user.claims });
      return 'done';
    },
  });
  const { url, gateway, log } = await startGateway({
    ...{ app, store: clock.store, limits: { scheduleMinMs: 1 } },
    auth: {
      type: 'custom',
      validate: (token = '') => ({
        valid: true,
        user: { id: token, roles: ['admin'], claims: 'of the day' },
      }),
    },
    ...config,
  });
  const as = (token: string) => connectClient(url, { token });
  /** Sets a schedule of each minute, and follows its instants. */
  const set = async (token = 'ann', session = 'main', owner = token) => {
    const events: GatewayEvent[] = [];
    const following = as(owner).events('main', { from: 'earliest' });
    void (async () => {
      for await (const event of following) events.push(event);
    })().catch(() => {});
    await sessionSchedules(as(token), session).schedule({ id: 's', message: 'Now', every: { ms: MINUTE } });
    const fired = (): readonly Fired[] => events.filter(isFired);
    const next = async (): Promise<Fired> => {
      const { length } = fired();
      clock.forward(MINUTE);
      await until(() => fired().length > length);
      return fired()[length]!;
    };
    return { next, fired, events };
  };
  return { clock, url, gateway, log, seen, as, set };
}

describe('a schedule that fires', () => {
  it('asks sessionAccess, which may refuse whom it let set it', async () => {
    let isAllowed = true;
    const asked: string[] = [];
    const { set, seen } = await begin({
      sessionAccess: ({ id }, _session, operation) => {
        asked.push(`${id} ${operation}`);
        return isAllowed || operation === 'events';
      },
    });
    const { next } = await set();
    expect(await next()).to.have.property('runId');
    expect(asked.at(-1)).to.equal('ann send');
    isAllowed = false;
    const skipped = await next();
    expect(skipped).to.include({ id: 's', skipped: 'refused' }).and.not.to.have.property('runId');
    isAllowed = true;
    expect(await next()).to.have.property('runId');
    await until(() => seen.length === 2);
  });

  it('asks appAccess', async () => {
    let isAllowed = true;
    const { set } = await begin({ appAccess: () => isAllowed });
    const { next } = await set();
    isAllowed = false;
    expect(await next()).to.include({ skipped: 'refused' });
  });

  it('has the roles that hydrateUser gives now, and nothing else of the day on which it was set', async () => {
    let roles = ['admin'];
    const { set, seen } = await begin({
      auth: {
        type: 'custom',
        validate: (token = '') => ({ valid: true, user: { id: token, claims: 'of the day' } }),
        hydrateUser: ({ user }) => ({ ...user, roles }),
      },
    });
    const { next } = await set();
    roles = ['reader'];
    await next();
    await until(() => seen.length === 1);
    expect(seen).to.deep.equal([{ id: 'ann', roles: ['reader'], claims: undefined }]);
  });

  it('has no roles where nobody can say which', async () => {
    const { set, seen } = await begin();
    const { next } = await set();
    await next();
    await until(() => seen.length === 1);
    expect(seen).to.deep.equal([{ id: 'ann', roles: [], claims: undefined }]);
  });

  it('has the roles of the configuration where that names the user', async () => {
    const token = 'a-token-of-its-own-of-more-than-32-bytes';
    const { set, seen } = await begin({
      auth: { type: 'token', token, user: { id: 'svc', roles: ['ops'] } },
    });
    const { next } = await set(token);
    await next();
    await until(() => seen.length === 1);
    expect(seen).to.deep.equal([{ id: 'svc', roles: ['ops'], claims: undefined }]);
  });

  for (const [how, refuse] of [
    ['refuses', () => Promise.reject(new GatewayError({ code: 'UNAUTHENTICATED' }))],
    ['knows none', () => null],
    ['gives another', () => ({ id: 'eve' })],
  ] as const)
    it(`is skipped for a user of whom hydrateUser ${how}`, async () => {
      let isThere = true;
      const { set, seen } = await begin({
        sessionScope: 'global',
        auth: {
          type: 'custom',
          validate: (token = '') => ({ valid: true, user: { id: token } }),
          hydrateUser: ({ user }) => (isThere || user.claims ? user : (refuse() as never)),
        },
      });
      const { next } = await set();
      await next();
      isThere = false;
      expect(await next()).to.include({ skipped: 'refused' });
      await until(() => seen.length === 1);
    });

  it('is skipped for a user whose sessions are elsewhere now', async () => {
    let department = 'sales';
    const { set } = await begin({
      sessionScope: ({ department: of }) => String(of),
      auth: {
        type: 'custom',
        validate: (token = '') => ({ valid: true, user: { id: token } }),
        hydrateUser: ({ user, absent }) => ({ ...user, department: absent ? department : 'sales' }),
      },
    });
    const { next } = await set();
    expect(await next()).to.have.property('runId');
    department = 'legal';
    expect(await next()).to.include({ skipped: 'refused' });
  });

  it('waits for a hydrateUser that fails, and is skipped where it comes again meanwhile', async () => {
    let isAway = false;
    const { set, seen, clock, gateway } = await begin({
      limits: { scheduleMinMs: 1, scheduleGraceMs: 10_000 },
      auth: {
        type: 'custom',
        validate: (token = '') => ({ valid: true, user: { id: token } }),
        hydrateUser: ({ user }) => {
          if (isAway) throw new Error('the directory is away');
          return user;
        },
      },
    });
    const failures = (): number =>
      gateway.stats().due.outcomes.find(({ outcome }) => outcome === 'failed')?.count ?? 0;
    const { next, fired } = await set();
    await next();
    isAway = true;
    clock.forward(MINUTE);
    await until(() => failures() === 1);
    expect(fired()).to.have.length(1);
    clock.forward(11_000);
    await until(() => fired().length === 2);
    expect(fired()[1]).to.include({ skipped: 'unavailable' });
    isAway = false;
    await next();
    await until(() => seen.length === 2);
    // The next instant has all attempts before it.
    const home = { scope: '[null,"ann"]', app: 'default', name: 'main' };
    const [{ value } = { value: '' }] = await clock.store.records({ home, kind: 'schedule', limit: 1 });
    expect(JSON.parse(value)).to.include.keys('schedule').and.not.have.any.keys('attempts', 'failed');
  });

  it('fires late where it comes once, and hydrateUser fails at its time', async () => {
    let isAway = false;
    const { as, seen, clock, gateway } = await begin({
      limits: { scheduleMinMs: 1, scheduleGraceMs: 10_000 },
      auth: {
        type: 'custom',
        validate: (token = '') => ({ valid: true, user: { id: token } }),
        hydrateUser: ({ user }) => {
          if (isAway) throw new Error('the directory is away');
          return user;
        },
      },
    });
    await sessionSchedules(as('ann'), 'main').schedule({ message: 'Now', at: clock.now() + MINUTE });
    isAway = true;
    for (let attempt = 1; attempt < 5; attempt++) {
      clock.forward(MINUTE);
      await until(() => gateway.stats().due.outcomes.some(({ count }) => count === attempt));
    }
    isAway = false;
    clock.forward(MINUTE);
    await until(() => seen.length === 1);
  });

  it('goes on where host code has set it for whom no directory knows', async () => {
    const { gateway, seen, clock } = await begin({
      auth: {
        type: 'custom',
        validate: () => ({ valid: false }),
        hydrateUser: () => {
          throw new Error('no such user');
        },
      },
    });
    const user = { id: 'cron', roles: ['admin'] };
    const session = gateway.session('main', { user });
    await session.schedule({ message: 'Now', every: { ms: MINUTE } });
    for (let i = 1; i <= 2; i++) {
      clock.forward(MINUTE);
      await session.schedules();
      await until(() => seen.length === i);
    }
    expect(seen[0]).to.deep.equal({ id: 'cron', roles: [], claims: undefined });
  });

  it('is skipped where sessionAccess refuses the grant by which it was set', async () => {
    let isAllowed = true;
    const vias: unknown[] = [];
    const { set, as, seen } = await begin({
      sessionAccess: (_user, { via }, operation) => {
        if (via && operation === 'send') vias.push(via);
        return isAllowed || !via;
      },
    });
    await as('ann').send('main', 'hi').result;
    const { grant } = await sessionSharing(as('ann'), 'main').share({
      with: { userId: 'ben' },
      as: 'operator',
    });
    const { next } = await set('ben', grant.sessionId, 'ann');
    await next();
    expect(vias).to.deep.equal([{ grantId: grant.grantId, as: 'operator' }]);
    isAllowed = false;
    expect(await next()).to.include({ skipped: 'refused' });
    await until(() => seen.length === 1);
    expect(seen).to.deep.equal([{ id: 'ben', roles: [], claims: undefined }]);
  });

  it('goes on for who bears a link, until it ends', async () => {
    const { set, as, seen, clock } = await begin({ shareLinks: { upTo: 'operator' } });
    await as('ann').send('main', 'hi').result;
    const sharing = sessionSharing(as('ann'), 'main');
    const { grant, token = '' } = await sharing.share({ with: { link: true }, as: 'operator' });
    const { next, events } = await set(token, grant.sessionId, 'ann');
    await next();
    await until(() => seen.length === 1);
    expect(seen[0]!.id).to.match(/^guest_/);
    await sharing.unshare(grant.grantId);
    await until(() => events.some(({ type }) => type === 'schedule_unset'));
    clock.forward(MINUTE);
    expect(await sessionSchedules(as('ann'), 'main').schedules()).to.deep.equal([]);
  });
});
