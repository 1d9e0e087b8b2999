import { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError } from '../../shared/errors.js';
import { inEveryCopy } from '../../shared/in-every-copy.js';
import type { MethodContext } from '../../shared/method.js';
import { type Context, presentContext } from '../async/async-context.js';

const storage = inEveryCopy('context', () => new AsyncLocalStorage<MethodContext>());

/**
 * The context of the running method call: the caller, the session, the signal. It is the handler's second argument, within reach of all
 * code that the handler calls or awaits.
 *
 * @throws GatewayError `INTERNAL` outside a call.
 *
 * @example
 * ```ts
 * const whoami = method({ handler: async () => ({ id: getContext().user!.id }) });
 * ```
 */
export function getContext(): MethodContext {
  const context = currentContext();
  if (context) return context;
  throw new GatewayError({
    code: 'INTERNAL',
    message:
      'getContext() was called outside a method call; call it in a handler or guard, or in code that one of them awaits',
  });
}

/** The context of the running call; undefined outside one. */
export function currentContext(): MethodContext | undefined {
  return storage.getStore();
}

/**
 * The present async context, without the method call that runs in it. Work that outlives a call keeps its trace and the host's own
 * storages, but `getContext()` fails in it.
 */
export function contextOutsideCalls(): Context {
  if (!storage.getStore()) return presentContext();
  return storage.run(undefined as never, presentContext);
}

/** Runs a function, and all work that it starts, with `context` as the result of `getContext()`. */
export function runInContext<Result>(context: MethodContext, fn: () => Result): Result {
  return storage.run(context, fn);
}
