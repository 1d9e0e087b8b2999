import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { getContext, runInContext } from '../../server/methods/context.js';
import { method } from '../../server/methods/method.js';
import type { MethodContext } from '../../shared/method.js';
import { call, entryOf, makeContext } from './make-context.js';

describe('the context of a call', () => {
  it('is an error outside one', () => {
    expect(() => getContext())
      .to.throw('outside a method call')
      .with.property('code', 'INTERNAL');
  });

  it('is what the handler and the guard receive, at every depth and after each await', async () => {
    const seen: unknown[] = [];
    const deep = async () => {
      await turn();
      return getContext();
    };
    const entry = entryOf(
      method({
        guard: async (context) => {
          await turn();
          return getContext() === context;
        },
        handler: async (_params: unknown, context) => {
          seen.push(context, getContext(), await deep());
        },
      }),
    );
    await call(entry, undefined, makeContext());
    expect(seen[0]).to.equal(seen[1]).and.to.equal(seen[2]);
    expect(() => getContext()).to.throw();
  });

  it('keeps concurrent calls apart', async () => {
    const entry = entryOf(async () => {
      const before = getContext().user?.id;
      await turn();
      return [before, getContext().user?.id];
    });
    const ids = Array.from({ length: 50 }, (_, index) => `u${index}`);
    const results = await Promise.all(ids.map((id) => call(entry, undefined, makeContext({ user: { id } }))));
    expect(results).to.deep.equal(ids.map((id) => [id, id]));
  });

  it('carries what the transport gave', async () => {
    const emitted: unknown[] = [];
    const channels = { publish: async () => {} };
    const given = makeContext({ channels, emit: (name, payload) => emitted.push([name, payload]) });
    const entry = entryOf(async (_params: unknown, context: MethodContext) => {
      const { emit } = context;
      emit('made', { id: 1 });
      return { ...context };
    });
    const copy = (await call(entry, undefined, given)) as MethodContext;
    expect(copy).to.include({ user: given.user, metadata: given.metadata, traceId: given.traceId, channels });
    expect(emitted).to.deep.equal([['made', { id: 1 }]]);
    expect('channels' in ((await call(entry, undefined, makeContext())) as object)).to.equal(false);
  });

  it('is given to any function by runInContext', () => {
    const context = makeContext();
    expect(runInContext(context, getContext)).to.equal(context);
  });
});
