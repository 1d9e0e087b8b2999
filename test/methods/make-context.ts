import { SharedTimer } from '../../server/async/shared-timer.js';
import { callMethod, type MethodCallBounds } from '../../server/methods/call.js';
import { flattenMethods, type MethodEntry } from '../../server/methods/flatten.js';
import type { MethodContext } from '../../shared/method.js';

/** A caller's context as a transport makes it, with what a test needs to differ. */
export function makeContext(given: Partial<MethodContext> = {}): MethodContext {
  return {
    user: { id: 'ada', roles: ['editor'] },
    metadata: { clientId: 'c1', transport: 'test', method: 'm' },
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    requestId: 'req_1',
    emit: () => {},
    signal: new AbortController().signal,
    ...given,
  };
}

/** The entry of one leaf, under the path `m`. */
export function entryOf(leaf: unknown): MethodEntry {
  return flattenMethods({ m: leaf } as never).get('m')!;
}

/** Calls a method, with a timer of its own unless a test brings some. */
export function call(
  entry: MethodEntry,
  params?: unknown,
  context = makeContext(),
  options: Partial<MethodCallBounds> = {},
): ReturnType<typeof callMethod> {
  return callMethod(entry, params, context, { timer: new SharedTimer(), ...options });
}
