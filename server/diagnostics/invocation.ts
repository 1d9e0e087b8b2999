import { type Context, presentContext } from '../async/async-context.js';
import { isLater, type MaybeLater } from '../async/eventual.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { settle, type Trace } from './trace.js';

/** A stream that reports its end, and can be run in a context. */
interface ObservedStream {
  observe(observer: StreamObserver): void;
}

/** Observes the end of a stream. */
export interface StreamObserver {
  /** Context of all calls that the stream makes, whoever reads it. */
  readonly context: Context;
  closed(failure: { readonly error: unknown } | undefined): void;
}

type InvocationResult =
  | { readonly kind: 'value'; readonly value: MaybeLater<unknown> }
  | { readonly kind: 'stream'; readonly stream: ObservedStream };

/** Traces a method call until it has a value, or its stream has ended. */
export function tracedInvocation<A extends InvocationResult>(
  trace: Trace<any>,
  work: () => MaybePromise<A>,
): MaybePromise<A> {
  return trace.during(() =>
    settle(trace, work, (answer): A => {
      if (answer.kind === 'stream') {
        answer.stream.observe({
          context: presentContext(),
          closed: (failure) => (failure ? trace.fail(failure.error) : trace.done(undefined)),
        });
      } else if (isLater(answer.value)) {
        answer.value.then(
          (result) => trace.done(result),
          (error) => trace.fail(error),
        );
      } else trace.done(answer.value);
      return answer;
    }),
  );
}
