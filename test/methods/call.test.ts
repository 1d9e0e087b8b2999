import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { expect } from 'chai';
import { z } from 'zod';
import { SharedTimer } from '../../server/async/shared-timer.js';
import { getContext } from '../../server/methods/context.js';
import { method } from '../../server/methods/method.js';
import { streamMethod } from '../../server/methods/stream.js';
import { GatewayError, isGuardError } from '../../shared/errors.js';
import type { MethodContext } from '../../shared/method.js';
import { holdTimers } from '../support/held-timers.js';
import { call, entryOf, makeContext } from './make-context.js';

type Limits = Parameters<typeof call>[3];

/** Calls a leaf and answers with the error it ends in. */
async function failureOf(
  leaf: unknown,
  params?: unknown,
  context = makeContext(),
  limits?: Limits,
): Promise<GatewayError> {
  try {
    await call(entryOf(leaf), params, context, limits);
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('expected a failure');
}

describe('a method call', () => {
  it('answers without a promise where nothing is asynchronous', () => {
    const entry = entryOf(
      method({ schema: z.object({ n: z.number() }), guard: () => true, handler: ({ n }) => n + 1 }),
    );
    expect(call(entry, { n: 1 }, makeContext(), { timeoutMs: 1000 })).to.equal(2);
  });

  it('gives the handler what the schema makes of the parameters', async () => {
    const entry = entryOf(
      method({ schema: z.object({ n: z.coerce.number().default(7) }), handler: async (p) => p }),
    );
    expect(await call(entry, { n: '3' }, makeContext())).to.deep.equal({ n: 3 });
    expect(await call(entry, {}, makeContext())).to.deep.equal({ n: 7 });
  });

  it('takes absent parameters for empty ones where the schema wants an object', async () => {
    const optional = method({ schema: z.object({ n: z.number().default(7) }), handler: async (p) => p });
    expect(await call(entryOf(optional), undefined, makeContext())).to.deep.equal({ n: 7 });
    const nothing = method({ schema: z.void(), handler: async (p) => p });
    expect(await call(entryOf(nothing), undefined, makeContext())).to.equal(undefined);
    const required = await failureOf(method({ schema: z.object({ n: z.number() }), handler: async () => 1 }));
    expect(required.details).to.have.deep.nested.property('0.path', 'n');
    const text = await failureOf(method({ schema: z.string(), handler: async () => 1 }));
    expect(text.message).to.contain('undefined');
    const late = method({
      schema: z.object({ n: z.number().default(7) }).refine(async () => true),
      handler: async (p) => p,
    });
    expect(await call(entryOf(late), undefined, makeContext())).to.deep.equal({ n: 7 });
  });

  it('checks roles, then the schema, then the guard, then calls', async () => {
    const order: string[] = [];
    const leaf = method({
      roles: ['editor'],
      schema: z.object({ ok: z.boolean().refine((ok) => order.push('schema') > 0 && ok) }),
      guard: (_context, { ok }) => order.push('guard') > 0 && ok,
      handler: async () => order.push('handler'),
    });
    await failureOf(leaf, { ok: true }, makeContext({ user: { id: 'eve', roles: [] } }));
    expect(order).to.deep.equal([]);
    await failureOf(leaf, { ok: false });
    expect(order.splice(0)).to.deep.equal(['schema']);
    await call(entryOf(leaf), { ok: true }, makeContext());
    expect(order).to.deep.equal(['schema', 'guard', 'handler']);
  });

  it('passes on what the handler throws, as it is', async () => {
    const own = new GatewayError({
      code: 'OUT_OF_STOCK',
      status: 409,
      message: 'None left',
      details: { sku: 1 },
    });
    const plain = new TypeError('secret');
    for (const error of [own, plain]) {
      expect(await failureOf(async () => Promise.reject(error))).to.equal(error);
      const thrower = () => {
        throw error;
      };
      expect(await failureOf(thrower)).to.equal(error);
    }
  });

  it('refuses to call a streaming method, and to stream any other', () => {
    expect(() =>
      call(
        entryOf(async function* () {}),
        undefined,
        makeContext(),
      ),
    ).to.throw('is a streaming method');
    expect(() =>
      streamMethod(
        entryOf(async () => 1),
        undefined,
        makeContext(),
      ),
    ).to.throw('is not a streaming method');
  });

  it('says how to stream when a handler returns an async iterable all the same', async () => {
    async function* items() {
      yield 1;
    }
    for (const leaf of [() => items(), async () => items(), async () => new Blob(['x']).stream()]) {
      const error = await failureOf(leaf);
      expect(error).to.include({ code: 'INTERNAL' });
      expect(error.message).to.contain('stream: true');
    }
  });
});

describe('the roles of a method', () => {
  const leaf = method({ roles: ['admin', 'owner'], handler: async () => 'in' });

  it('let in whoever holds any one', async () => {
    for (const roles of [['admin'], ['x', 'owner'], ['admin', 'owner']]) {
      expect(await call(entryOf(leaf), undefined, makeContext({ user: { id: 'ada', roles } }))).to.equal(
        'in',
      );
    }
  });

  it('are compared exactly, and only in a list', async () => {
    const held: unknown[] = [
      [],
      ['Admin'],
      ['admin '],
      ['administrator'],
      'administrator',
      { includes: () => true },
      undefined,
    ];
    for (const roles of held) {
      const error = await failureOf(leaf, undefined, makeContext({ user: { id: 'eve', roles } as never }));
      expect(isGuardError(error)).to.equal(true);
      expect(error).to.include({ code: 'GUARD_DENIED', status: 403, guardType: 'role' });
      expect(error.message).not.to.contain('admin');
    }
    expect(await failureOf(leaf, undefined, makeContext({ user: null }))).to.include({ guardType: 'role' });
  });

  it('ignore what parameters claim', async () => {
    expect(await failureOf(leaf, { user: { roles: ['admin'] }, roles: ['admin'] })).to.include({
      guardType: 'role',
    });
  });
});

describe('the guard of a method', () => {
  it('receives the valid parameters and the context', async () => {
    const seen: unknown[] = [];
    const leaf = method({
      schema: z.object({ n: z.coerce.number() }),
      guard: (context, params) => seen.push(params, context.user?.id) > 0,
      handler: async () => 1,
    });
    await call(entryOf(leaf), { n: '1' }, makeContext());
    expect(seen).to.deep.equal([{ n: 1 }, 'ada']);
  });

  const secret = new GatewayError({ code: 'SECRET', message: 'secret reason' });
  const denials: Readonly<Record<string, () => unknown>> = {
    'answers false': () => false,
    'answers false late': async () => false,
    'answers nothing': () => undefined,
    'answers something truthy': () => 1,
    throws: () => {
      throw secret;
    },
    rejects: () => Promise.reject(secret),
    'throws nothing': () => {
      throw undefined;
    },
  };
  for (const [name, guard] of Object.entries(denials)) {
    it(`denies when it ${name}, and tells no more`, async () => {
      let called = false;
      const handler = async () => {
        called = true;
      };
      const error = await failureOf(method({ guard: guard as never, handler }));
      expect(error).to.include({ code: 'GUARD_DENIED', guardType: 'custom', status: 403 });
      expect(JSON.stringify(error)).not.to.contain('secret');
      expect(called).to.equal(false);
    });
  }

  it('denies when it stays silent', async () => {
    const { clock, left } = holdTimers();
    const outcome = failureOf(
      method({ guard: () => new Promise<boolean>(() => {}), handler: async () => 1 }),
      undefined,
      makeContext(),
      { guardMs: 300 },
    );
    await clock.tickAsync(299);
    expect(left('server/methods')).to.have.length(1);
    await clock.tickAsync(1);
    expect(await outcome).to.include({ code: 'GUARD_DENIED', guardType: 'custom' });
  });
});

describe('the time and the signal of a call', () => {
  const hang = (_params: unknown, context: MethodContext) =>
    once(context.signal, 'abort').then(() => 'too late');

  it('ends a handler that takes too long with TIMEOUT, and tells it', async () => {
    let seen: AbortSignal | undefined;
    const leaf = (params: unknown, context: MethodContext) => {
      seen = context.signal;
      return hang(params, context);
    };
    expect(await failureOf(leaf, undefined, makeContext(), { timeoutMs: 5 })).to.include({
      code: 'TIMEOUT',
      status: 504,
    });
    expect(seen).to.include({ aborted: true });
    expect(seen?.reason).to.include({ code: 'TIMEOUT' });
  });

  it('ends one that never looked at its signal, which reads as aborted afterwards', async () => {
    let kept: MethodContext | undefined;
    const leaf = (_params: unknown, context: MethodContext) => {
      kept = context;
      return new Promise(() => {});
    };
    expect(await failureOf(leaf, undefined, makeContext(), { timeoutMs: 1 })).to.include({ code: 'TIMEOUT' });
    expect(kept?.signal.aborted).to.equal(true);
  });

  it("lets the method's own time win, and takes any number", async () => {
    const { clock, left } = holdTimers('performance');
    const never = () => new Promise(() => {});
    const outcome = failureOf(method({ timeoutMs: 50, handler: never }), undefined, makeContext(), {
      timeoutMs: 10,
    });
    let settled = false;
    void outcome.then(() => {
      settled = true;
    });
    await clock.tickAsync(49);
    expect(settled).to.equal(false);
    await clock.tickAsync(1);
    expect(await outcome).to.include({ code: 'TIMEOUT' });
    for (const timeoutMs of [Number.POSITIVE_INFINITY, undefined]) {
      void call(entryOf(never), undefined, makeContext(), timeoutMs === undefined ? {} : { timeoutMs });
    }
    expect(left('server/methods')).to.deep.equal([]);
    void call(entryOf(never), undefined, makeContext(), { timeoutMs: 2 ** 40 });
    await clock.tickAsync(60_000);
    expect(left('server/methods')).to.have.length(1);
  });

  it('shares one timer with all others, which is left behind only until it runs', async () => {
    const { clock, left } = holdTimers('performance');
    const limits = { timeoutMs: 1000, timer: new SharedTimer() };
    for (const handler of [async () => 1, async () => Promise.reject(new TypeError()), () => 1])
      await failureOf(handler, undefined, makeContext(), limits).catch(() => {});
    expect(left('server/methods')).to.have.length(1);
    await clock.tickAsync(1000);
    expect(left('server/methods')).to.deep.equal([]);
  });

  it('tells those who listen to its signal in the context in which they asked for it', async () => {
    const store = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const leaf = (_params: unknown, { signal }: MethodContext) => {
      signal.addEventListener('abort', () => seen.push(getContext().traceId, store.getStore()));
      return new Promise(() => {});
    };
    const context = makeContext();
    await store.run('a host', () => failureOf(leaf, undefined, context, { timeoutMs: 1 }));
    expect(seen).to.deep.equal([context.traceId, 'a host']);
  });

  it("forwards the caller's abort, with its reason", async () => {
    const caller = new AbortController();
    const outcome = call(
      entryOf(async (_params: unknown, { signal }: MethodContext) => {
        await once(signal, 'abort');
        return signal.reason as unknown;
      }),
      undefined,
      makeContext({ signal: caller.signal }),
    );
    caller.abort('gone');
    expect(await outcome).to.equal('gone');
    const early = entryOf((_params: unknown, { signal }: MethodContext) => signal.aborted);
    expect(call(early, undefined, makeContext({ signal: AbortSignal.abort() }))).to.equal(true);
  });

  it("holds on to nothing of the caller's signal, once it is over", async () => {
    const caller = new AbortController();
    let listeners = 0;
    const add = caller.signal.addEventListener.bind(caller.signal);
    const remove = caller.signal.removeEventListener.bind(caller.signal);
    Object.assign(caller.signal, {
      addEventListener: (...args: Parameters<typeof add>) => {
        listeners += 1;
        add(...args);
      },
      removeEventListener: (...args: Parameters<typeof remove>) => {
        listeners -= 1;
        remove(...args);
      },
    });
    const context = makeContext({ signal: caller.signal });
    const leaves = [
      async (_p: unknown, { signal }: MethodContext) => signal.aborted,
      (_p: unknown, { signal }: MethodContext) => signal.aborted,
      async (_p: unknown, { signal }: MethodContext) => Promise.reject(new TypeError(String(signal.aborted))),
      (_p: unknown, { signal }: MethodContext) => {
        throw new TypeError(String(signal.aborted));
      },
    ];
    for (const leaf of leaves) {
      await (async () => call(entryOf(leaf), undefined, context))().catch(() => {});
      expect(listeners).to.equal(0);
    }
    await streamMethod(
      entryOf(async function* () {}),
      undefined,
      context,
    ).next();
    expect(listeners).to.equal(0);
  });
});

describe('the result schema of a method', () => {
  const result = z.object({ id: z.string(), n: z.number().default(1) });

  it('makes the result that callers get', async () => {
    const entry = entryOf(method({ result, handler: async () => ({ id: 'a', secret: 1 }) }));
    expect(await call(entry, undefined, makeContext())).to.deep.equal({ id: 'a', n: 1 });
  });

  it('blames the method, not the caller, and names the fields in the cause alone', async () => {
    for (const handler of [async () => ({ id: 1 }), () => ({ id: 1 })]) {
      const error = await failureOf(method({ result, handler: handler as never }));
      expect(error).to.include({ code: 'INTERNAL', status: 500 });
      expect(error.toJSON()).not.to.have.property('details');
      expect((error.cause as GatewayError).details).to.have.deep.nested.property('0.path', 'id');
    }
  });
});
