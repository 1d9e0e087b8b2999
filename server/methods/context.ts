import { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError } from '../../shared/errors.js';
import type { MethodContext } from '../../shared/method.js';
import { type Context, presentContext } from '../async/async-context.js';

const storage = new AsyncLocalStorage<MethodContext>();

/**
 * What the running method knows about its call: who calls, the session, the signal. The same object as the handler's second
 * argument, within reach of everything the handler calls or awaits.
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
 * The present asynchronous context, without the call that runs in it: what outlives a call keeps its trace and the host's own
 * storages, and is nobody's call.
 */
export function contextOutsideCalls(): Context {
  if (!storage.getStore()) return presentContext();
  return storage.run(undefined as never, presentContext);
}

/** Runs a function, and all that it starts, with `context` as the answer of `getContext()`. */
export function runInContext<Result>(context: MethodContext, fn: () => Result): Result {
  return storage.run(context, fn);
}
