import { type Context, presentContext } from '../async/async-context.js';
import { isLater, type MaybeLater } from '../async/eventual.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { settle, type Trace } from './trace.js';

/** A stream that says how it ends, and can be run in a context. */
interface ObservedStream {
  observe(observer: StreamObserver): void;
}

/** Who hears of the end of a stream. */
export interface StreamObserver {
  /** What the stream calls is called in this context, whoever reads it. */
  readonly context: Context;
  closed(failure: { readonly error: unknown } | undefined): void;
}

type Answer =
  | { readonly kind: 'value'; readonly value: MaybeLater<unknown> }
  | { readonly kind: 'stream'; readonly stream: ObservedStream };

/** Traces a method call until its value is there, or its stream has ended. */
export function tracedInvocation<A extends Answer>(
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
