import { expect } from 'chai';
import type { Store } from '../../server/stores/store.js';
import { asker } from '../notices/begin.js';
import { TestClock } from '../schedules/test-clock.js';
import { collect, connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';

const home = { scope: '[null,"token"]', app: 'default', name: 'bad' };
/** A time before which every pause of work in sessions is over, and a lease. */
const PAUSED_MS = 17 * 60_000;
/** A time before which every pause of notices is over. */
const NOTICE_PAUSED_MS = 9 * 3_600_000;

/** Kinds of due work, the value of a record that fails each time where its session can't be taken, and how often it is tried. */
const KINDS: Readonly<Record<string, { readonly value?: object; readonly attempts: number }>> = {
  grant: {
    attempts: 100,
    value: {
      grant: { grantId: 'x', as: 'viewer', with: { userId: 'ben' }, by: 'ann', at: 1 },
      userKey: 'ben',
    },
  },
  approval: { attempts: 100 },
  control: { attempts: 100, value: { by: 'ann' } },
  'child-end': {
    attempts: 100,
    value: { trigger: { type: 'child', runId: 'r', id: 'c', app: 'default', stopReason: 'end' }, user: null },
  },
  waking: { attempts: 100 },
  schedule: {
    attempts: 100,
    value: {
      schedule: {
        ...{ id: 'x', message: 'hi', every: '0 9 * * *', zone: 'UTC', missed: 'once', by: 'token' },
        ...{ setAt: 1, nextAt: 1 },
      },
      user: { id: 'token', roles: [] },
    },
  },
  notice: {
    attempts: 10,
    value: { notice: { id: 'x', kind: 'custom', sessionId: 'bad' }, to: '[null,"token"]', targets: null },
  },
  delivery: {
    attempts: 10,
    value: {
      notice: { id: 'x', kind: 'custom', sessionId: 'bad', at: 1 },
      ...{ to: '[null,"token"]', target: 'deliver', owedAt: 1 },
    },
  },
};

/** A gateway that can't take the session `bad`, and that has an own notice deliverer that fails. */
async function begin() {
  const hub = new MemoryHub();
  const first = await startGateway({ app: asker, store: hub.node().store });
  await connectClient(first.url).send('bad', 'hi').result;
  await first.gateway.close();
  const clock = new TestClock(hub.node().store);
  const poison = { isThere: true };
  const store: Store = overriding(clock.store, {
    acquire: (ref, options) => {
      if (ref.name === 'bad' && poison.isThere) throw new Error('poison');
      return clock.store.acquire(ref, options);
    },
  });
  const deliver = ({ sessionId }: { readonly sessionId: string }): void => {
    if (sessionId === 'bad' && poison.isThere) throw new Error('poison');
  };
  const { gateway, log } = await startGateway({
    ...{ app: asker, store, notify: { deliver, unseenMs: 0 }, limits: { scheduleMinMs: 1 } },
  });
  const owe = async (kind: string, name: string, value: object = {}): Promise<void> => {
    const dueAt = clock.now() - 1000;
    await store.changeRecords(home, [{ kind, id: name, value: JSON.stringify(value), dueAt }]);
    // It looks for what is due at once.
    await gateway.execute('schedule', { sessionId: 'wakes', id: 'wake', message: 'x', at: Date.now() });
  };
  const attemptsOf = async (kind: string): Promise<number> => {
    const [record] = await store.records({ home, kind, id: 'x', limit: 1 });
    return record ? ((JSON.parse(record.value) as { attempts?: number }).attempts ?? 0) : -1;
  };
  return { clock, store, poison, gateway, log, owe, attemptsOf };
}

describe('due work whose handler fails each time', () => {
  for (const [kind, { attempts: most, value }] of Object.entries(KINDS))
    it(`is given up after its attempts, and keeps nothing waiting: ${kind}`, async () => {
      const { clock, store, poison, gateway, owe, attemptsOf, log } = await begin();
      await owe(kind, 'x', value);
      for (let attempt = 1; attempt < most; attempt++) {
        await until(async () => (await attemptsOf(kind)) === attempt);
        clock.forward(most === 10 ? NOTICE_PAUSED_MS : PAUSED_MS);
        if (attempt % 33 !== 1) continue;
        // Others are worked off meanwhile.
        const message = `others ${attempt}`;
        await gateway.execute('schedule', { sessionId: 'good', id: 's', message, at: Date.now() });
        await until(async () => {
          const { messages } = await gateway.session('good').history();
          return JSON.stringify(messages).includes(`did ${message}`);
        });
      }
      await until(async () => (await collect(gateway.deadWork())).length === 1);
      const [dead] = await collect(gateway.deadWork());
      expect(dead).to.include({ kind, name: 'x', attempts: most, sessionId: 'bad', scope: home.scope });
      expect(dead!.forgottenAt - dead!.failedAt).to.equal(30 * 86_400_000);
      expect(await store.records({ home, kind, limit: 9 })).to.deep.equal([]);
      expect(log.lines.filter(({ message }) => message.includes('was given up'))).to.have.length(1);
      expect(gateway.stats().due.outcomes).to.deep.include.members([
        { kind, outcome: 'failed', count: most - 1 },
        { kind, outcome: 'dead', count: 1 },
      ]);
      // An operator has it tried again, which fails and is counted from the start.
      expect(await gateway.retryWork(dead!.id)).to.equal(true);
      expect(await gateway.retryWork(dead!.id)).to.equal(false);
      await until(async () => (await attemptsOf(kind)) === 1);
      expect(await collect(gateway.deadWork())).to.deep.equal([]);
      poison.isThere = false;
    });
});
