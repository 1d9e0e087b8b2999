import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { EventOf } from '../../shared/events.js';
import { failure, takeUntil } from '../support/client.js';
import { gate } from '../support/gate.js';
import { FAST, get, post, startGateway } from '../support/gateway.js';
import { laterStore } from '../support/later-store.js';
import { begin, DAY, type Fired, isFired, reporter } from './begin.js';

describe('schedules', () => {
  it('sends its message once, at its time, as who set it', async () => {
    const { schedule, schedules, events } = await begin();
    const at = Date.now() + 30;
    const set = await schedule({ id: 'soon', message: 'Now', at });
    expect(set).to.include({ id: 'soon', message: 'Now', at, nextAt: at, missed: 'once', by: 'token' });
    const seen = await takeUntil(events, ({ type }) => type === 'message_end');
    const types = seen.map(({ type }) => type).filter((type) => !['connected', 'subscribed'].includes(type));
    expect(types.slice(0, 4)).to.deep.equal([
      'schedule_set',
      'schedule_fired',
      'message_accepted',
      'message_start',
    ]);
    const fired = seen.find(isFired)!;
    const { message, runId } = seen.at(-1) as EventOf<'message_end'>;
    expect(fired).to.deep.include({ id: 'soon', instant: at, nextAt: null, runId });
    expect(JSON.parse((message.content[0] as { text: string }).text)).to.deep.equal({
      trigger: { type: 'schedule', id: 'soon', instant: at },
      user: 'token',
      text: 'Now',
    });
    expect(await schedules()).to.deep.equal([]);
  });

  it('says of an instant that found the queue full that it was skipped', async () => {
    const held = gate();
    const app = defineApp({
      async *run() {
        await held.passed;
        yield 'done';
      },
    });
    const { client, schedule, events } = await begin({ queueLength: 1 }, app);
    const first = client.send('main', 'one');
    await first.accepted;
    await client.send('main', 'two').accepted;
    await schedule({ id: 'soon', message: 'Now', at: Date.now() });
    const fired = (await takeUntil(events, isFired)).at(-1) as Fired;
    expect(fired).to.include({ id: 'soon', skipped: 'busy', nextAt: null });
    held.open();
    await first.result;
  });

  it('is set again without a change as it is, and with one in its place', async () => {
    const { schedule, schedules, events } = await begin();
    const daily = { id: 'daily', message: 'Report', every: '0 9 * * 1-5', zone: 'Europe/Berlin' };
    const set = await schedule(daily);
    expect(await schedule(daily)).to.deep.equal(set);
    const other = await schedule({ ...daily, missed: 'skip' });
    expect(other).to.include({ id: 'daily', missed: 'skip' });
    expect((await schedules()).map(({ missed }) => missed)).to.deep.equal(['skip']);
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) ids.push((await schedule({ message: 'x', at: set.nextAt + DAY })).id);
    expect(new Set(ids).size).to.equal(2);
    const seen = await takeUntil(events, (event) => event.type === 'schedule_set' && event.id === ids[1]);
    expect(seen.filter(({ type }) => type === 'schedule_set')).to.have.length(4);
  });

  it('has no more than `limits.schedulesPerSession`, which one that is replaced does not count for', async () => {
    const { schedule } = await begin({ schedulesPerSession: 2 });
    const at = Date.now() + DAY;
    await schedule({ id: 'a', message: 'x', at });
    await schedule({ id: 'b', message: 'x', at });
    const refused = await failure(schedule({ id: 'c', message: 'x', at }));
    expect(refused).to.include({ code: 'QUOTA_EXCEEDED' });
    expect(refused.message).to.include('limits.schedulesPerSession');
    await schedule({ id: 'b', message: 'y', at });
  });

  it('has no more than that where all are set at once', async () => {
    const { gateway } = await startGateway({
      ...{ app: reporter, store: laterStore(memoryStore()) },
      limits: { ...FAST, schedulesPerSession: 8 },
    });
    const at = Date.now() + DAY;
    const all = Array.from({ length: 40 }, (_, n) =>
      gateway.execute('schedule', { sessionId: 'main', id: `s${n}`, message: 'x', at }),
    );
    const settled = await Promise.allSettled(all);
    expect(settled.filter(({ status }) => status === 'fulfilled')).to.have.length(8);
    const { schedules } = await gateway.execute('schedules', { sessionId: 'main' });
    expect(schedules).to.have.length(8);
  });

  it('sends its message whatever others have sent under keys like its own', async () => {
    const { client, schedule, events } = await begin();
    const at = Date.now() + 60;
    await schedule({ id: 'audit', message: 'AUDIT', at });
    for (const idempotencyKey of [`schedule:audit:${at}`, `["schedule","audit",${at}]`])
      await client.send('main', 'nothing to see', { idempotencyKey }).result;
    const seen = await takeUntil(events, isFired);
    const [accepted] = await takeUntil(events, ({ type }) => type === 'message_accepted');
    const { runId } = seen.at(-1) as Fired;
    expect(accepted).to.containSubset({ runId, message: { content: [{ text: 'AUDIT' }] } });
  });

  it('is another user’s to nobody', async () => {
    const { url, schedule } = await begin();
    await schedule({ id: 'a', message: 'x', at: Date.now() + DAY });
    const { status, body } = await get(`${url}/schedules?sessionId=other`);
    expect([status, body.error.code]).to.deep.equal([404, 'SESSION_NOT_FOUND']);
  });

  describe('refuses, naming the field, and keeps nothing', () => {
    const cases: readonly (readonly [string, object, string])[] = [
      ['no time', { message: 'x' }, 'every'],
      ['two times', { message: 'x', at: 1, every: '0 9 * * *' }, 'every'],
      ['a time that is past', { message: 'x', at: 1000 }, 'at'],
      ['a time that no date has', { message: 'x', at: 9e15 }, 'at'],
      ['an expression that never fires', { message: 'x', every: '0 0 31 2 *' }, 'every'],
      ['an expression that is none', { message: 'x', every: 'at nine' }, 'every'],
      ['a date', { message: 'x', every: '2030-01-01T00:00:00' }, 'every'],
      ['an expression of seven fields', { message: 'x', every: '0 0 9 * * 1 2030' }, 'every'],
      ['an expression that fires too often', { message: 'x', every: '* * * * * *' }, 'every'],
      ['a number of milliseconds that is too small', { message: 'x', every: { ms: 500 } }, 'every.ms'],
      ['none', { message: 'x', every: { ms: 0 } }, 'every.ms'],
      ['more than a date has', { message: 'x', every: { ms: 8.64e15 } }, 'every.ms'],
      ['a zone that there is not', { message: 'x', every: '0 9 * * *', zone: 'Mars/Olympus' }, 'zone'],
      ['a zone without an expression', { message: 'x', at: 9e12, zone: 'UTC' }, 'zone'],
      ['a message that is too long', { message: 'x'.repeat(99), at: 9e12 }, 'message'],
      ['no message', { at: 9e12 }, 'message'],
      ['a name that is none', { message: 'x', at: 9e12, id: 'a b' }, 'id'],
      ['a policy that is none', { message: 'x', at: 9e12, missed: 'never' }, 'missed'],
      ['a field that is none', { message: 'x', at: 9e12, times: 3 }, 'times'],
    ];
    for (const [name, schedule, path] of cases) {
      it(name, async () => {
        const { url } = await startGateway({
          app: reporter,
          limits: { scheduleMinMs: 60_000, scheduleLength: 50 },
        });
        const { status, body } = await post(`${url}/schedule`, { sessionId: 'main', ...schedule });
        expect([status, body.error.code], JSON.stringify(body)).to.deep.equal([400, 'INVALID_PARAMS']);
        expect(body.error.details.map((detail: { path: string }) => detail.path)).to.deep.equal([path]);
        expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
      });
    }
  });
});
