import { expect } from 'chai';
import { createSchedulesStore } from '../../client/hooks/schedules-store.js';
import { type Schedule, sessionSchedules } from '../../client/schedules/index.js';
import type { StoredRecord } from '../../server/stores/index.js';
import { connectClient, failure, takeUntil } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';
import { begin, DAY, type Fired, isFired, reporter } from './begin.js';
import { TestClock } from './test-clock.js';

describeDaily('schedules over days', 2, () => {
  it('sends it again and again, each instant once, until it is taken back', async () => {
    const { clock, schedule, unschedule, schedules, events } = await begin();
    const { setAt } = await schedule({ id: 'tick', message: 'Tick', every: { ms: DAY } });
    for (let n = 1; n <= 3; n++) {
      clock.forward(DAY);
      const fired = (await takeUntil(events, isFired)).at(-1) as Fired;
      expect(fired).to.include({ instant: setAt + n * DAY, nextAt: setAt + (n + 1) * DAY });
      expect(fired).not.to.have.property('missed');
    }
    expect((await schedules()).map(({ nextAt }) => nextAt)).to.deep.equal([setAt + 4 * DAY]);
    await unschedule('tick');
    await unschedule('tick');
    expect(await schedules()).to.deep.equal([]);
    clock.forward(DAY);
    await schedule({ id: 'last', message: 'Last', at: clock.now() });
    const rest = await takeUntil(events, isFired);
    expect(rest.filter(isFired).map(({ id }) => id)).to.deep.equal(['last']);
    expect(rest.filter(({ type }) => type === 'schedule_unset')).to.have.length(1);
  });

  for (const [missed, expected] of [
    ['once', [{ missed: 4 }]],
    ['skip', [{ missed: 4, skipped: 'missed' }]],
    ['all', [{}, {}, {}, {}, {}]],
  ] as const) {
    it(`accounts for the instants that were missed: ${missed}`, async () => {
      const { clock, schedule, events } = await begin();
      const { setAt } = await schedule({ id: 'tick', message: 'Tick', every: { ms: DAY }, missed });
      clock.forward(5.5 * DAY);
      let last = 0;
      const fired: Fired[] = [];
      while (last < setAt + 5 * DAY) {
        fired.push((await takeUntil(events, isFired)).at(-1) as Fired);
        last = fired.at(-1)!.instant;
      }
      expect(
        fired.map(({ missed, skipped }) => ({ ...(missed && { missed }), ...(skipped && { skipped }) })),
      ).to.deep.equal(expected);
      expect(
        fired.map(({ runId, skipped }) => (runId === undefined) === (skipped !== undefined)),
      ).not.to.include(false);
      expect(fired.at(-1)!.nextAt).to.equal(setAt + 6 * DAY);
    });
  }

  it('skips what nobody has waited for so long, and fires the last 24, where all are to fire', async () => {
    const { clock, schedule, events } = await begin();
    const { setAt } = await schedule({ id: 'tick', message: 'Tick', every: { ms: DAY }, missed: 'all' });
    clock.forward(100.5 * DAY);
    const fired: Fired[] = [];
    while (fired.length < 25) fired.push((await takeUntil(events, isFired)).at(-1) as Fired);
    expect(fired[0]).to.include({ instant: setAt + 76 * DAY, missed: 75, skipped: 'missed' });
    expect(fired.slice(1).map(({ instant }) => (instant - setAt) / DAY)).to.deep.equal(
      Array.from({ length: 24 }, (_, i) => 77 + i),
    );
  });

  it('ends with its conversation: another one under the same key has none', async () => {
    const { clock, client, schedule, schedules } = await begin();
    await client.send('main', 'hi').result;
    await schedule({ id: 'tick', message: 'Tick', every: { ms: DAY } });
    await client.close('main');
    expect(await failure(schedules())).to.include({ code: 'SESSION_NOT_FOUND' });
    await client.send('main', 'hi again').result;
    expect(await schedules()).to.deep.equal([]);
    const events = client.events('main', { from: 'earliest' });
    await schedule({ id: 'new', message: 'New', at: Date.now() + 2 * DAY });
    clock.forward(3 * DAY);
    const fired = (await takeUntil(events, isFired)).filter(isFired);
    expect(fired.map(({ id }) => id)).to.deep.equal(['new']);
  });

  it('shows them as they change', async () => {
    const { client, clock, schedule, unschedule } = await begin();
    const shown = createSchedulesStore(client, 'main');
    const views: (readonly Schedule[])[] = [];
    let changed = (): void => {};
    const stop = shown.subscribe(() => {
      views.push(shown.getSnapshot().schedules);
      changed();
    });
    const next = async (matches: (schedules: readonly Schedule[]) => boolean): Promise<void> => {
      while (!matches(shown.getSnapshot().schedules))
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
    };
    const { nextAt } = await schedule({ id: 'tick', message: 'Tick', every: { ms: DAY } });
    await next(([first]) => first?.nextAt === nextAt);
    clock.forward(DAY);
    await next(([first]) => first?.nextAt === nextAt + DAY);
    await unschedule('tick');
    await next(({ length }) => length === 0);
    stop();
  });

  it('are left to a gateway that has their app', async () => {
    const clock = new TestClock();
    const limits = { scheduleMinMs: 1 };
    const first = await startGateway({
      apps: { report: reporter },
      defaultApp: 'report',
      limits,
      store: clock.store,
    });
    const { schedule } = sessionSchedules(connectClient(first.url), 'report:main');
    await schedule({ id: 'soon', message: 'Now', at: Date.now() + DAY });
    await first.gateway.close();
    const other = await startGateway({
      apps: { other: reporter },
      defaultApp: 'other',
      limits,
      store: clock.store,
    });
    clock.forward(DAY);
    await until(() => clock.taken > 0);
    await other.gateway.close();
    expect(other.log.lines).to.deep.equal([]);
    const last = await startGateway({
      apps: { report: reporter },
      defaultApp: 'report',
      limits,
      store: clock.store,
    });
    const events = connectClient(last.url).events('report:main', { from: 'earliest' });
    expect((await takeUntil(events, isFired)).at(-1)).to.include({ id: 'soon', nextAt: null });
  });

  it('do nothing for who took one before another did', async () => {
    const clock = new TestClock();
    const late: StoredRecord[] = [];
    const store = overriding(clock.store, {
      async takeDue(options) {
        const taken = await clock.store.takeDue(options);
        const again = late.splice(0);
        late.push(...taken.records);
        return { ...taken, records: [...taken.records, ...again] };
      },
    });
    const { url } = await startGateway({ app: reporter, limits: { scheduleMinMs: 1 }, store });
    const client = connectClient(url);
    const events = client.events('main', { from: 'earliest' });
    const { setAt } = await sessionSchedules(client, 'main').schedule({
      ...{ id: 'tick', message: 'Tick', every: { ms: DAY }, missed: 'all' },
    });
    clock.forward(5.5 * DAY);
    const fired: Fired[] = [];
    while (fired.length < 5) fired.push((await takeUntil(events, isFired)).at(-1) as Fired);
    // What comes late of the last one comes before this.
    clock.forward(DAY);
    fired.push((await takeUntil(events, isFired)).at(-1) as Fired);
    expect(fired.map(({ instant }) => (instant - setAt) / DAY)).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });
});
