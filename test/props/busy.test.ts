import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type Turn } from '../../server/index.js';
import type { GatewayEvent, OnBusy } from '../../shared/index.js';
import { BusyModel } from '../support/busy-model.js';
import { embedGateway } from '../support/embedded.js';
import { foldOf } from '../support/session-view.js';
import { casesOn, WILLING_STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

type Step =
  | { readonly kind: 'send'; readonly onBusy: OnBusy }
  | { readonly kind: 'finish' | 'steer' | 'abort' }
  | { readonly kind: 'abortRun'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      onBusy: fc.constantFrom<OnBusy>('queue', 'steer', 'interrupt', 'reject'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('finish' as const, 'steer' as const, 'abort' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abortRun' as const), which: fc.nat(15) }) },
);

/** An app whose runs stand still until the test tells the one that runs what to do. */
function puppet() {
  const turns = new Map<string, { turn: Turn; finish(): void }>();
  const waiters: (() => void)[] = [];
  const app = defineApp({
    run: (turn) =>
      new Promise<string>((resolve) => {
        turns.set(turn.text, { turn, finish: () => resolve(`answer to ${turn.text}`) });
        for (const waiter of waiters.splice(0)) waiter();
      }),
  });
  const started = async (text: string): Promise<{ turn: Turn; finish(): void }> => {
    for (;;) {
      const found = turns.get(text);
      if (found) return found;
      await new Promise<void>((resolve) => waiters.push(resolve));
    }
  };
  return { app, started };
}

for (const on of WILLING_STORES) {
  describe(`messages to a busy session (${on.name})`, () => {
    it('queue, steer, interrupt and reject as the model says; nobody is dropped, one run at a time', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
          const { app, started } = puppet();
          const store = testStore(on);
          const gateway = embedGateway({ app, store: store.store, limits: { queueLength: 4 } });
          const session = gateway.session('main');
          const model = new BusyModel(4);
          const runIds: string[] = [];
          const results = new Map<number, Promise<string>>();
          const accepted: number[] = [];
          let next = 0;
          for (const { kind, ...rest } of steps) {
            const active = model.active ? await started(String(model.active.id)) : null;
            if (kind === 'send') {
              const id = next++;
              const { onBusy } = rest as { onBusy: OnBusy };
              const expected = model.send(id, onBusy);
              const run = session.send(String(id), { onBusy });
              const outcome = await run.accepted.then(
                (it) => it,
                (error: { code: string }) => error.code,
              );
              if (typeof outcome === 'string') expect(outcome).to.equal(expected);
              else {
                expect(outcome.position).to.equal(expected);
                runIds[id] = outcome.runId;
                accepted.push(id);
                results.set(
                  id,
                  run.result.then(({ stopReason }) => stopReason),
                );
              }
            } else if (kind === 'finish' && active) {
              const { id } = model.active!;
              model.finish();
              active.finish();
              expect(await results.get(id)).to.equal('end');
            } else if (kind === 'steer' && active) {
              const taken = active.turn
                .steered()
                .map(({ content }) => Number((content[0] as { text: string }).text));
              expect(taken).to.deep.equal(model.steer());
            } else if (kind === 'abort' && next > 0 && accepted.length > 0) {
              expect(await session.abort()).to.equal(model.abort());
            } else if (kind === 'abortRun' && accepted.length > 0) {
              const id = accepted[(rest as { which: number }).which % accepted.length]!;
              expect(await session.abort({ runId: runIds[id]! })).to.equal(model.abort(id));
            }
          }
          while (model.active) {
            const { finish } = await started(String(model.active.id));
            model.finish();
            finish();
          }
          for (const id of accepted) expect(await results.get(id), `run ${id}`).to.equal(model.ends.get(id));
          check(store.eventsOf('main'), model, runIds);
          await gateway.close();
        }),
        { numRuns: casesOn(on, 150) },
      );
    });
  });
}

/** What the log must say, whatever happened. */
function check(log: readonly GatewayEvent[], model: BusyModel, runIds: readonly string[]): void {
  let active: string | null = null;
  const started: number[] = [];
  const ended = new Map<string, number>();
  for (const event of log) {
    const runId = 'runId' in event ? event.runId! : '';
    if (event.type === 'message_start') {
      expect(active, 'one active run at a time').to.equal(null);
      active = runId;
      started.push(runIds.indexOf(runId));
    }
    expect(ended.has(runId), `${event.type} after the end of its run`).to.equal(false);
    if (event.type !== 'message_end') continue;
    ended.set(runId, 1);
    if (active === runId) active = null;
  }
  expect(active).to.equal(null);
  // A run that was ended before it could begin may or may not have reached its start.
  expect(started.filter((id) => model.ends.get(id) === 'end')).to.deep.equal(
    model.started.filter((id) => model.ends.get(id) === 'end'),
  );
  expect(ended.size).to.equal(runIds.filter((id) => id !== undefined).length);
  const state = foldOf(log);
  expect(state.queue).to.deep.equal([]);
  expect(state.run).to.equal(null);
}

describe('sends that come at the same time', () => {
  it('each get a place of their own, and the fold of the log shows the same queue', async () => {
    for (const on of WILLING_STORES) {
      const { app } = puppet();
      const store = testStore(on);
      const session = embedGateway({ app, store: store.store }).session('main');
      const modes: OnBusy[] = [
        'queue',
        'steer',
        'queue',
        'interrupt',
        'steer',
        'queue',
        'interrupt',
        'steer',
      ];
      const sent = await Promise.all(modes.map((onBusy, i) => session.send(String(i), { onBusy }).accepted));
      expect(new Set(sent.map(({ runId }) => runId)).size).to.equal(modes.length);
      // What was accepted last is acknowledged before the next run's start is.
      while (!foldOf(store.eventsOf('main')).run) await new Promise(setImmediate);
      const { runId, queued, status } = await session.status();
      expect(status).to.equal('running');
      const state = foldOf(store.eventsOf('main'));
      const ends = store.eventsOf('main').filter((event) => event.type === 'message_end');
      expect(state.queue.length).to.equal(queued);
      expect(state.run?.runId).to.equal(runId);
      expect(queued + ends.length + 1).to.equal(modes.length);
      for (const { runId: following } of state.queue) {
        const before = foldOf(store.eventsOf('main')).run?.runId;
        await session.abort();
        while ([undefined, before].includes(foldOf(store.eventsOf('main')).run?.runId))
          await new Promise(setImmediate);
        expect(foldOf(store.eventsOf('main')).run?.runId, 'in the order of the folded queue').to.equal(
          following,
        );
      }
    }
  });
});
