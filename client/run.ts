import type { ContentOf, WithMessage } from '../shared/content.js';
import type { GatewayEvent, OnBusy } from '../shared/events.js';
import type { GatewayError } from '../shared/gateway-error.js';
import { type Message, type SendInput, textOf } from '../shared/messages.js';
import type {
  Accepted,
  ClientTool,
  ParamsOf,
  ResultOf,
  RunInfo,
  RunResult,
} from '../shared/operation-types.js';
import type { OnRetry } from './call.js';
import type { Connection, Following } from './connection.js';
import { createIterator, type EventIterator } from './event-iterator.js';
import { isFinal } from './line.js';
import type { CallNeeds } from './method-calls.js';
import type { SignalOptions } from './options.js';
import { draftMessage, identified, type Outbox } from './outbox.js';
import { randomId } from './random.js';
import { abortError, onAbort, openScope, within } from './timing.js';
import type { ClientEvent } from './typed-events.js';
import { findView, type View } from './view.js';

/** What sessions and runs are made of. */
export interface Core extends CallNeeds {
  readonly connection: Connection;
  readonly outbox: Outbox;
  /** Those that somebody looks at. */
  readonly views: Set<View>;
}

/**
 * Options of what begins a run. A signal gives up what was not accepted yet (`ABORTED`); later it ends the iterations and the wait for
 * the result, and no run.
 */
export interface RunOptions extends SignalOptions {
  /** Starts at most one run, however often it is sent. @default a random one */
  readonly idempotencyKey?: string | undefined;
  /** Reaches the app as `turn.metadata`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Tools that this client answers itself, with `respond`; the app sees them as `turn.clientTools`. The gateway has to allow them. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** What the app is to ask of its model, as `turn.parameters`: `temperature`, … The gateway has to allow them. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of `edit`. */
export interface EditOptions extends RunOptions {
  /** @default 'queue'. What runs or waits ends where a message takes another place than the last, unless this is `reject`. */
  readonly onBusy?: OnBusy | undefined;
}

/** Options of `send`. */
export interface SendOptions extends EditOptions {
  /** Id of the message that this one is to follow, null for the beginning: the conversation goes on from there. @default the last one */
  readonly parent?: string | null | undefined;
  /** Id of the message whose place this one takes. `HISTORY_MOVED` where the conversation does not show that any more. */
  readonly replaces?: string | undefined;
}

/**
 * A run, followed to its end. Iterating yields its events, from its beginning each time; leaving the iteration only detaches. A `gap`
 * with its `snapshot` in between says that events are missing.
 */
export interface FollowedRun<Source = unknown> extends AsyncIterable<ClientEvent<Source>> {
  /**
   * Resolves whatever the run's end, through any outage, with `stopReason: 'lost'` where it cannot be known any more (`error` says why,
   * if this client gave up). Rejects only where there is no such run: its message was never accepted, or it is not kept. Needs no handler.
   */
  readonly result: Promise<WithMessage<RunResult, ContentOf<Source>>>;
  /** The answer's text as it grows; joined, it is the whole. */
  readonly text: AsyncIterable<string>;
  /** Ends the run, also before it starts. */
  abort(reason?: string): Promise<ResultOf<'abort'>>;
}

/** A sent message and its run. */
export interface Run<Source = unknown> extends FollowedRun<Source> {
  readonly idempotencyKey: string;
  /**
   * Rejects when the gateway refused the message, or surely never got it. While it may have been accepted, it is asked for again, for as
   * long as it takes.
   */
  readonly accepted: Promise<Accepted>;
}

/** What begins a run: a message, or an answer that there is to be another of. */
type Begun =
  | ({ readonly operation: 'send'; readonly input: SendInput } & SendOptions)
  | ({ readonly operation: 'regenerate'; readonly messageId: string | undefined } & RunOptions);

/** Asks for a run and follows it to the end, whether or not anybody looks. */
export function startRun(core: Core, sessionId: string, begun: Begun): Run {
  const { operation, idempotencyKey: key = randomId(), signal, ...rest } = begun;
  const { call, outbox } = core;
  const { input, ...others } = rest as { readonly input?: SendInput };
  const message = operation === 'send' ? identified(input!, key) : undefined;
  const params = { ...others, ...(message && { message }), sessionId, idempotencyKey: key } as never;
  const scope = openScope(signal);
  const remove = () => outbox.remove(key);

  let hurry = () => {};
  const { replaces, messageId } = rest as { readonly replaces?: string; readonly messageId?: string };
  const shown = message
    ? { message: draftMessage(message), ...(replaces && { replaces }) }
    : { ...(messageId && { messageId }) };
  const show = (status: 'sending' | 'failed', error?: GatewayError, runId?: string) =>
    outbox.set(sessionId, {
      key,
      ...shown,
      status,
      ...(error && { error }),
      ...(runId && { runId }),
      retry: () => {
        if (status === 'sending') hurry();
        else startRun(core, sessionId, { ...begun, idempotencyKey: key, signal: undefined });
      },
      discard: () => {
        remove();
        scope.abort();
      },
    });
  show('sending');
  const ask = (options?: SignalOptions, onRetry?: OnRetry) =>
    call(operation, { ...(params as object), ...options } as never, onRetry) as Promise<Accepted>;
  const accepted = ask({ signal: scope.signal }, (error, now) => {
    hurry = now;
    if (outbox.has(key)) show('sending', error);
  });
  accepted.then(
    // Whoever shows the session shows it until it is there, and nobody else has to.
    ({ runId }) => {
      if (!findView(core, sessionId)) remove();
      else if (!message && outbox.has(key)) show('sending', undefined, runId);
    },
    (error: GatewayError) => {
      if (scope.signal.aborted) remove();
      else if (outbox.has(key)) show('failed', error);
    },
  );
  const origin = accepted.then(({ runId, cursor }) => ({ sessionId, runId, cursor }));
  const followed = followRun(core, origin, signal);
  followed.result.then(remove, () => {}).finally(scope.release);
  return {
    ...followed,
    idempotencyKey: key,
    accepted,
    abort: (reason) => {
      const named = accepted.catch((error: GatewayError) => {
        if (error.code !== 'ABORTED') throw error;
        // Given up on its way: whether it was accepted, only the same send can tell.
        return ask();
      });
      const aborted = named.then(({ runId }) => call('abort', { sessionId, runId, reason }));
      aborted.catch(() => {});
      return aborted;
    },
  };
}

/** Follows a run that was begun elsewhere, or before this page was loaded. */
export function findRun(core: Core, named: ParamsOf<'run'>, signal: AbortSignal | undefined): FollowedRun {
  return followRun(core, askAbout(core, named, signal), signal);
}

/** What is asked of a run, and where it is found. */
type Origin = Pick<RunInfo, 'runId' | 'sessionId' | 'cursor'>;

function followRun(core: Core, origin: Promise<Origin>, signal: AbortSignal | undefined): FollowedRun {
  const events: GatewayEvent[] = [];
  const iterators = new Set<EventIterator<GatewayEvent>>();
  let outcome: RunResult | undefined;
  let end: ((iterator: EventIterator<GatewayEvent>) => void) | undefined;
  const iterate = () => {
    const iterator = createIterator<GatewayEvent>({ left: () => iterators.delete(iterator) }, signal);
    for (const event of events) iterator.push(event);
    if (end) end(iterator);
    else iterators.add(iterator);
    return iterator;
  };
  const result = origin.then((start) =>
    follow(core, start, signal, (event) => {
      events.push(event);
      for (const iterator of iterators) iterator.push(event);
    }),
  );
  const over = (error?: GatewayError) => {
    end = (iterator) => iterator.end(error);
    iterators.forEach(end);
  };
  result.then((value) => {
    outcome = value;
    over();
  }, over);
  return {
    result,
    text: { [Symbol.asyncIterator]: () => textIn(iterate(), origin, () => outcome) },
    [Symbol.asyncIterator]: iterate,
    abort: async (reason) => {
      const { sessionId, runId } = await origin;
      return core.call('abort', { sessionId, runId, reason });
    },
  };
}

/** Delivers the events of an accepted run until its end is known. */
function follow(
  core: Core,
  { sessionId, runId, cursor: from }: Origin,
  signal: AbortSignal | undefined,
  deliver: (event: GatewayEvent) => void,
): Promise<RunResult> {
  return new Promise((resolve) => {
    let error: RunResult['error'];
    let answerId: string | undefined;
    let isOver = false;
    let following: Following | undefined;
    let release = () => {};

    const stop = () => {
      isOver = true;
      following?.stop();
    };
    const finish = (result: Partial<RunResult> & Pick<RunResult, 'stopReason'>) => {
      release();
      const message: Message = {
        id: answerId ?? runId,
        role: 'assistant',
        content: [],
        createdAt: Date.now(),
      };
      // The first to finish counts.
      resolve({ runId, message, cursor: from, ...(error && { error }), ...result });
      stop();
    };
    /** A gap swallowed the end: the gateway knows it. */
    const recover = async () => {
      stop();
      const { result } = await askAbout(core, { sessionId, runId }, signal).catch(() => ({
        result: undefined,
      }));
      finish(result ?? { stopReason: 'lost' });
    };
    const take = (event: GatewayEvent) => {
      const { type } = event;
      const isGap = type === 'gap' || type === 'snapshot';
      if (isOver || !(isGap || ('runId' in event && event.runId === runId))) return;
      deliver(event);
      if (type === 'snapshot') {
        const { run, queue } = event.state;
        if (run?.runId === runId) answerId = run.message.id;
        else if (!queue.some((queued) => queued.runId === runId)) void recover();
      } else if (type === 'message_start') answerId = event.messageId;
      else if (type === 'run_error') error = { code: event.code, message: event.message };
      else if (type === 'message_end') {
        const { type: _, sessionId: __, ts: ___, ...end } = event;
        finish({ ...end, runId });
      }
    };
    const end = ({ code, message } = abortError()) => {
      error = { code, message };
      finish({ stopReason: 'lost' });
    };
    release = onAbort(signal, () => end());
    if (isOver) return;
    following = core.connection.follow(sessionId, from, {
      isUrgent: true,
      take: (batch) => batch.forEach(take),
      end,
    });
    if (isOver) stop();
  });
}

/** Asks what a run is doing, however long that takes. Rejects where the gateway refuses, or nobody waits any more. */
function askAbout(
  { call, aborts, retries }: Core,
  run: ParamsOf<'run'>,
  signal: AbortSignal | undefined,
): Promise<RunInfo> {
  const scope = openScope(signal, aborts);
  return within(scope, async () => {
    for (let tried = 0; ; tried++) {
      try {
        return await call('run', { ...run, signal: scope.signal });
      } catch (error) {
        if (isFinal(error as GatewayError)) throw error;
        await retries.wait(error as GatewayError, tried, scope.signal);
      }
    }
  });
}

/** The text of a run's events. What a gap has kept from the deltas is taken from the answer itself. */
async function* textIn(
  events: AsyncIterable<GatewayEvent>,
  origin: Promise<Origin>,
  outcome: () => RunResult | undefined,
): AsyncGenerator<string, void, void> {
  let length = 0;
  const rest = (message: Message | undefined) => (message ? textOf(message).slice(length) : '');
  for await (const event of events) {
    let text = '';
    if (event.type === 'content_delta') text = event.delta;
    else if (event.type === 'snapshot' && event.state.run?.runId === (await origin).runId)
      text = rest(event.state.run.message);
    length += text.length;
    if (text) yield text;
  }
  const text = rest(outcome()?.message);
  if (text) yield text;
}
