import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type SessionHandle, type Turn, tool } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { embedGateway } from '../support/embedded.js';
import { insist, sendUntilTaken } from '../support/insist.js';
import { foldOf } from '../support/session-view.js';
import { casesOn, STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

const forever = new Promise<never>(() => {});
const turn = (): Promise<void> => new Promise(setImmediate);

/** Ways in which an app can treat a run that has ended. */
const unruly = {
  async *ignoresItsSignal() {
    for (let i = 0; ; i++) {
      yield `${i}`;
      await turn();
    }
  },
  async *neverWaits() {
    for (;;) yield 'x';
  },
  // biome-ignore lint/correctness/useYield: it hangs before it could
  async *hangs() {
    await forever;
  },
  hangsWithoutAGenerator: () => forever,
  async *throws() {
    yield 'a';
    await turn();
    throw new TypeError('a bug');
  },
  throwsAtOnce() {
    throw new TypeError('a bug');
  },
  async *refusesToReturn() {
    try {
      for (;;) {
        yield 'a';
        await turn();
      }
    } finally {
      yield 'not done';
      await forever;
    }
  },
  async *usesItsTurnAfterwards(it: Turn) {
    it.signal.addEventListener('abort', () => {
      misuse(it);
      setImmediate(() => misuse(it));
    });
    yield 'a';
    await forever;
  },
  async *asks(it: Turn) {
    yield 'a';
    await it.ask({ name: 'why' });
  },
  async *confirms(it: Turn) {
    await it.callTool('risky', {});
    yield 'done';
  },
  async *runsATool(it: Turn) {
    await it.callTool('slow', {});
    yield 'done';
  },
  async ends(it: Turn) {
    await turn();
    it.usage({ outputTokens: 1 });
    setImmediate(() => misuse(it));
    return 'the end';
  },
};
type Kind = keyof typeof unruly;

function misuse(it: Turn): void {
  it.data('late', 1);
  it.emit('late', 1);
  it.publish('late', 1);
  it.annotate({ late: true });
  it.usage({ outputTokens: 99 });
  it.steered();
  it.callTool('slow', {}).catch(() => {});
  it.ask({ name: 'late' }).catch(() => {});
}

const app = defineApp({
  tools: {
    risky: tool({ confirm: true, handler: () => 1 }),
    slow: tool({
      handler: async (_input, { progress }) => {
        for (let i = 0; i < 50; i++) {
          progress(i);
          await turn();
        }
        return 'slow';
      },
    }),
  },
  run: (it) => (it.text === 'next' ? 'next is here' : (unruly[it.text as Kind] as (it: Turn) => never)(it)),
});

const kinds = Object.keys(unruly) as Kind[];
const how = fc.constantFrom(
  'abort' as const,
  'abortTwice' as const,
  'interrupt' as const,
  'timeout' as const,
  'close' as const,
  'drain' as const,
);

for (const on of STORES) {
  describe(`the end of a run (${on.name})`, () => {
    it('comes exactly once, frees the session at once, and nothing of the run comes after it', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...kinds),
          how,
          fc.nat(8),
          fc.boolean(),
          async (kind, end, delay, early) => {
            const model = testStore(on);
            const runMs = end === 'timeout' ? 15 : 60_000;
            const gateway = embedGateway({ app, store: model.store, limits: { runMs, waitMs: runMs } });
            const session = gateway.session('main');
            const run = await sendUntilTaken(session, kind);
            const { runId } = await run.accepted;
            if (!early) for (let i = 0; i < delay; i++) await turn();
            const nextResult = await endIt(end, session, runId, gateway);
            if (end === 'drain' && on.refuses) {
              const stored = await run.result.then(
                () => true,
                ({ code }) => code === 'SHUTTING_DOWN',
              );
              expect(stored, 'it is told how it ended, or that nobody can tell here').to.equal(true);
              // What could not be stored by then is ended by the next to open the session.
              model.hostile.relent();
              await embedGateway({ app, store: model.store }).session('main').send('next').result;
              check(model.eventsOf('main'), runId);
              return;
            }
            const { stopReason, message, cursor } = await run.result;
            for (let i = 0; i < 5; i++) await turn();
            const log = model.logs.get(model.epochsOf('main')[0]!)!;
            check(log, runId);
            const last = log.find((event) => event.type === 'message_end' && event.runId === runId)!;
            expect(last).to.deep.include({ stopReason, message, cursor });
            expect(stopReason).to.be.oneOf(reasons(end, kind));
            expect(message.metadata).to.equal(undefined);
            if (nextResult) expect(nextResult).to.equal('next is here');
            expect(foldOf(log).run).to.equal(null);
            expect(foldOf(log).pending).to.deep.equal([]);
          },
        ),
        { numRuns: casesOn(on, 150) },
      );
    });
  });
}

/** Ends the run and returns what the session answers next. */
async function endIt(
  end: 'abort' | 'abortTwice' | 'interrupt' | 'timeout' | 'close' | 'drain',
  session: SessionHandle,
  runId: string,
  gateway: ReturnType<typeof embedGateway>,
): Promise<string | null> {
  if (end === 'drain') {
    await gateway.close();
    return null;
  }
  if (end === 'close') await insist(() => session.close());
  if (end === 'abort' || end === 'abortTwice') await insist(() => session.abort({ runId }));
  if (end === 'abortTwice') expect(await insist(() => session.abort({ runId }))).to.equal(false);
  if (end === 'timeout') return null;
  const next = await sendUntilTaken(session, 'next', end === 'interrupt' ? { onBusy: 'interrupt' } : {});
  // A run that had ended frees the session, so this one is not behind it.
  expect((await next.accepted).position).to.equal(0);
  const { message } = await next.result;
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** `ends`, `throws` and the tool may be quicker than what should end them. */
function reasons(end: string, kind: Kind): string[] {
  const own = kind.startsWith('throws')
    ? ['error']
    : ['ends', 'runsATool', 'usesItsTurnAfterwards'].includes(kind)
      ? ['end']
      : [];
  const by = {
    abort: 'aborted',
    abortTwice: 'aborted',
    interrupt: 'superseded',
    timeout: 'timeout',
    close: 'aborted',
    drain: 'lost',
  }[end]!;
  return [...own, by];
}

function check(log: readonly GatewayEvent[], runId: string): void {
  const mine = log.filter((event) => 'runId' in event && event.runId === runId);
  expect(mine.filter(({ type }) => type === 'message_end')).to.have.length(1);
  expect(mine.at(-1)?.type).to.equal('message_end');
  expect(mine.some((event) => 'name' in event && event.name === 'late')).to.equal(false);
  expect(log.some((event) => event.type === 'channel' && event.channel === 'late')).to.equal(false);
}

describe('an answer that is still being checked when its run ends', () => {
  it('is refused and leaves nothing in the log', async () => {
    let checked: (value: unknown) => void = () => {};
    const slowSchema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) =>
          new Promise((resolve) => {
            checked = () => resolve({ value });
          }),
      },
    };
    const asking = defineApp({
      run: async (it) => {
        await it.ask({ name: 'q', schema: slowSchema as never });
        return 'answered';
      },
    });
    const model = testStore();
    const session = embedGateway({ app: asking, store: model.store }).session('main');
    const run = session.send('x');
    const { runId } = await run.accepted;
    let question: GatewayEvent | undefined;
    while (!question) {
      await turn();
      question = model.eventsOf('main').find((event) => event.type === 'input_required');
    }
    const answering = session.respond((question as { callId: string }).callId, { output: 1 });
    const refused = answering.then(
      () => null,
      (error: { code: string }) => error.code,
    );
    await turn();
    await session.abort();
    await run.result;
    checked(1);
    expect(await refused).to.equal('ALREADY_ANSWERED');
    await turn();
    check(model.eventsOf('main'), runId);
  });
});
