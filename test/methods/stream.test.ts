import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { getContext } from '../../server/methods/context.js';
import { method } from '../../server/methods/method.js';
import { type MethodStream, RETURN_GRACE_MS, streamMethod } from '../../server/methods/stream.js';
import type { MethodContext } from '../../shared/method.js';
import { holdTimers } from '../support/held-timers.js';
import { entryOf, makeContext } from './make-context.js';

const stream = (leaf: unknown, params?: unknown, context = makeContext()): MethodStream =>
  streamMethod(entryOf(leaf), params, context);

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: { code?: unknown }) => error.code ?? error,
  );

async function* count(): AsyncGenerator<number> {
  for (let n = 1; ; n += 1) yield n;
}

/** A generator that waits for its signal, and says when it was let go. */
function waiting(log: string[]) {
  return async function* (_params: unknown, { signal }: MethodContext) {
    try {
      yield 'first';
      log.push('awaits');
      await once(signal, 'abort');
      log.push('told');
    } finally {
      log.push('cleaned');
    }
  };
}

describe('a streaming method', () => {
  it('yields its items, then ends', async () => {
    const seen: unknown[] = [];
    for await (const { data } of stream(async function* (n: number) {
      for (let i = 0; i < n; i += 1) yield i;
    }, 3)) {
      seen.push(data);
    }
    expect(seen).to.deep.equal([0, 1, 2]);
  });

  it('answers several next() at once in their order', async () => {
    const items = stream(count);
    const steps = await Promise.all([items.next(), items.next(), items.next()]);
    expect(steps.map(({ value }) => value?.data)).to.deep.equal([1, 2, 3]);
    await items.return();
  });

  it('runs ahead of nobody', async () => {
    let made = 0;
    const items = stream(async function* () {
      for (;;) yield ++made;
    });
    await items.open();
    expect(made).to.equal(0);
    await items.next();
    await turn();
    expect(made).to.equal(1);
    await items.return();
  });

  it('has its context at every item', async () => {
    const items = stream(async function* () {
      for (;;) {
        yield getContext().user?.id;
        await turn();
      }
    });
    for (let i = 0; i < 3; i += 1) expect((await items.next()).value?.data).to.equal('ada');
    await items.return();
    expect(() => getContext()).to.throw();
  });

  it('takes any async iterable from a handler that says it streams', async () => {
    const items = stream(method({ stream: true, handler: async () => new Blob(['hi']).stream() }));
    expect(Buffer.from((await items.next()).value?.data as Uint8Array).toString()).to.equal('hi');
    expect(await items.next()).to.deep.equal({ done: true, value: undefined });
    expect(await codeOf(stream(method({ stream: true, handler: async () => 1 })).next())).to.equal(
      'INTERNAL',
    );
  });

  it('checks before it opens, and denies at open() or at the first next()', async () => {
    const leaf = method({
      roles: ['admin'],
      schema: z.object({ n: z.number() }),
      handler: async function* () {},
    });
    const admin = makeContext({ user: { id: 'ada', roles: ['admin'] } });
    expect(await codeOf(stream(leaf, { n: 1 }).open())).to.equal('GUARD_DENIED');
    expect(await codeOf(stream(leaf, { n: 1 }).next())).to.equal('GUARD_DENIED');
    expect(await codeOf(stream(leaf, { n: 'x' }, admin).open())).to.equal('INVALID_PARAMS');
    const open = stream(leaf, { n: 1 }, admin);
    await open.open();
    await open.open();
    expect(await open.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('fails once with what the handler throws, and is over', async () => {
    const error = new TypeError('mine');
    const items = stream(async function* () {
      yield 1;
      throw error;
    });
    await items.next();
    const steps = [items.next(), items.next()];
    expect(await codeOf(steps[0]!)).to.equal(error);
    expect(await steps[1]).to.deep.equal({ done: true, value: undefined });
    expect(await items.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('validates each item, blames the method and ends it', async () => {
    let cleaned = false;
    const items = stream(
      method({
        result: z.object({ n: z.number().default(9) }),
        handler: async function* () {
          try {
            yield {};
            yield { n: 'x' } as never;
          } finally {
            cleaned = true;
          }
        },
      }),
    );
    expect((await items.next()).value?.data).to.deep.equal({ n: 9 });
    expect(await codeOf(items.next())).to.equal('INTERNAL');
    await turn();
    expect(cleaned).to.equal(true);
  });
});

describe('the end of a streaming method', () => {
  it("calls the generator's return()", async () => {
    const log: string[] = [];
    for await (const { data: item } of stream(waiting(log))) {
      log.push(String(item));
      break;
    }
    expect(log).to.deep.equal(['first', 'cleaned']);
  });

  it('does not wait for an item that is awaited', async () => {
    const log: string[] = [];
    const items = stream(waiting(log));
    await items.next();
    const pending = items.next();
    await turn();
    expect(await items.return()).to.deep.equal({ done: true, value: undefined });
    expect(await pending).to.deep.equal({ done: true, value: undefined });
    expect(log).to.deep.equal(['awaits', 'told', 'cleaned']);
  });

  it('abandons a generator that ignores it', async () => {
    const { clock, left } = holdTimers();
    const items = stream(async function* () {
      yield 1;
      await new Promise(() => {});
    });
    await items.next();
    const pending = items.next();
    const returned = items.return();
    expect(await pending).to.deep.equal({ done: true, value: undefined });
    await clock.tickAsync(RETURN_GRACE_MS);
    expect(await returned).to.deep.equal({ done: true, value: undefined });
    expect(left('server/methods')).to.deep.equal([]);
  });

  it('is the end of one that never began, whose handler is then not called', async () => {
    let called = false;
    let admitted: (ok: boolean) => void = () => {};
    const leaf = method({
      guard: () =>
        new Promise<boolean>((resolve) => {
          admitted = resolve;
        }),
      handler: async function* () {
        called = true;
        yield 1;
      },
    });
    const fresh = stream(leaf);
    await fresh.return();
    await fresh.open();
    expect(await fresh.next()).to.deep.equal({ done: true, value: undefined });
    const opening = stream(leaf);
    const pending = opening.next();
    await opening.return();
    admitted(true);
    expect(await pending).to.deep.equal({ done: true, value: undefined });
    await turn();
    expect(called).to.equal(false);
  });

  it('reports what the clean-up throws to whoever returned', async () => {
    const error = new TypeError('mine');
    const items = stream(async function* () {
      try {
        yield 1;
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: the case under test
        throw error;
      }
    });
    await items.next();
    expect(await codeOf(items.return())).to.equal(error);
    expect(await codeOf(stream(count).throw(error))).to.equal(error);
  });

  it("comes with the caller's abort, as ABORTED", async () => {
    const log: string[] = [];
    const caller = new AbortController();
    const items = stream(waiting(log), undefined, makeContext({ signal: caller.signal }));
    await items.next();
    const pending = items.next();
    await turn();
    caller.abort();
    expect(await codeOf(pending)).to.equal('ABORTED');
    await turn();
    expect(log).to.deep.equal(['awaits', 'told', 'cleaned']);
    const late = stream(count, undefined, makeContext({ signal: AbortSignal.abort() }));
    expect(await codeOf(late.open())).to.equal('ABORTED');
  });

  it("comes with the method's own time, as TIMEOUT, also between two items and while it opens", async () => {
    const { clock, left } = holdTimers();
    const log: string[] = [];
    const items = stream(method({ timeoutMs: 100, handler: waiting(log) as never, stream: true }));
    await items.next();
    await clock.tickAsync(100);
    expect(await codeOf(items.next())).to.equal('TIMEOUT');
    expect(log).to.deep.equal(['cleaned']);
    const hung = stream(method({ timeoutMs: 100, stream: true, handler: () => new Promise(() => {}) }));
    const opened = codeOf(hung.open());
    await clock.tickAsync(100);
    expect(await opened).to.equal('TIMEOUT');
    expect(left('server/methods')).to.deep.equal([]);
  });
});
