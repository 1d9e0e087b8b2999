import type { ContentOf, WithMessage } from '../shared/content.js';
import type { GatewayEvent, OnBusy } from '../shared/events.js';
import type { ActiveRun, SessionState } from '../shared/fold.js';
import type { GatewayError } from '../shared/gateway-error.js';
import { type Message, type SendInput, textOf } from '../shared/messages.js';
import type {
  Accepted,
  ClientTool,
  GivenOutput,
  ParamsOf,
  ResultOf,
  RunInfo,
  RunResult,
} from '../shared/operation-types.js';
import type { OnRetry } from './call.js';
import type { FollowHandle, ReaderConnection } from './connection.js';
import { createIterator, type EventIterator } from './event-iterator.js';
import { isFinal } from './line.js';
import type { CallNeeds } from './method-calls.js';
import type { SignalOptions } from './options.js';
import { draftMessage, identified, type Outbox } from './outbox.js';
import type { ClientPerson } from './person.js';
import { randomId } from './random.js';
import { abortError, onAbort, openScope, within } from './timing.js';
import type { ClientEvent } from './typed-events.js';
import { findView, type LiveView } from './view.js';

/** The shared parts of a client that sessions and runs use. */
export interface Core extends CallNeeds {
  readonly connection: ReaderConnection;
  readonly outbox: Outbox;
  readonly person: ClientPerson;
  /** Views that somebody looks at. */
  readonly views: Set<LiveView>;
}

/**
 * Options of an operation that begins a run. A signal gives up a request that was not accepted yet (`ABORTED`). Later it ends the iterations and the
 * wait for the result, but no run.
 */
export interface RunOptions extends SignalOptions {
  /** Starts at most one run, however often the request is sent. @default a random one */
  readonly idempotencyKey?: string | undefined;
  /** Reaches the app as `turn.metadata`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Tools that this client answers itself, with `respond`. The app sees them as `turn.clientTools`. The gateway must allow them. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** Wishes to the app's model, as `turn.parameters`: `temperature`, … The gateway must allow them. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Outputs of tools for this run, in place of calls of them: to try how it goes on otherwise. The gateway must allow them. */
  readonly toolOutputs?: readonly GivenOutput[] | undefined;
}

/** Options of `edit`. */
export interface EditOptions extends RunOptions {
  /** @default 'queue'. A message that goes to another place than the end ends the active run and the queued ones, unless this is `reject`. */
  readonly onBusy?: OnBusy | undefined;
}

/** Options of `send`. */
export interface SendOptions extends EditOptions {
  /** Id of the new message's parent, null for the beginning. The conversation goes on from there. @default the last one */
  readonly parent?: string | null | undefined;
  /** Id of the message that this one replaces. `HISTORY_MOVED` if the conversation does not show that message any more. */
  readonly replaces?: string | undefined;
  /**
   * `new`: the run begins at once, in a lane of its own beside the answer that is being written. Message and answer join the conversation when it
   * ends. Goes with no `parent`, `replaces` or `onBusy`.
   */
  readonly lane?: 'new' | undefined;
  /** `false`: message and answer of a lane of its own do not join the conversation. @default true */
  readonly keep?: boolean | undefined;
}

/**
 * A run, followed to its end. Iterating yields its events, from its beginning each time; leaving the iteration only detaches. A `gap`
 * with its `snapshot` in between says that events are missing.
 */
export interface FollowedRun<Source = unknown> extends AsyncIterable<ClientEvent<Source>> {
  /**
   * Resolves with the run's end, through any outage. `stopReason` is `lost` if the end cannot be known any more (`error` says why, if this client
   * gave up). Rejects only if there is no such run: its message was never accepted, or it is not kept. Needs no handler.
   */
  readonly result: Promise<WithMessage<RunResult, ContentOf<Source>>>;
  /** The answer's text as it grows. The pieces, joined, are the whole text. */
  readonly text: AsyncIterable<string>;
  /** Ends the run, also before it starts. */
  abort(reason?: string): Promise<ResultOf<'abort'>>;
}

/** A sent message and its run. */
export interface Run<Source = unknown> extends FollowedRun<Source> {
  readonly idempotencyKey: string;
  /**
   * Rejects if the gateway refused the message, or surely never got it. While it may have been accepted, the client keeps asking.
   */
  readonly accepted: Promise<Accepted>;
}

/** A request that begins a run: a message, or a new version of an answer. */
type BeginRequest =
  | ({ readonly operation: 'send'; readonly input: SendInput } & SendOptions)
  | ({ readonly operation: 'regenerate'; readonly messageId: string | undefined } & RunOptions);

/** Asks for a run and follows it to the end, even if nobody looks. */
export function startRun(core: Core, sessionId: string, begun: BeginRequest): Run {
  core.person.look();
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
    // A view shows the message until the session's state has it. Without a view nothing needs to be shown.
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
        // It was given up on its way: only the same send can tell whether it was accepted.
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

/** The place of a run: its session, and the cursor before it. */
type ClientRunOrigin = Pick<RunInfo, 'runId' | 'sessionId' | 'cursor'>;

function followRun(
  core: Core,
  origin: Promise<ClientRunOrigin>,
  signal: AbortSignal | undefined,
): FollowedRun {
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
  { sessionId, runId, cursor: from }: ClientRunOrigin,
  signal: AbortSignal | undefined,
  deliver: (event: GatewayEvent) => void,
): Promise<RunResult> {
  return new Promise((resolve) => {
    let error: RunResult['error'];
    let answerId: string | undefined;
    let isOver = false;
    let following: FollowHandle | undefined;
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
    const end = ({ code, message } = abortError()) => {
      error = { code, message };
      finish({ stopReason: 'lost' });
    };
    /** A gap swallowed the run's end, or came before its acceptance. Ask the gateway. */
    const recover = async () => {
      try {
        const { state, result } = await askAbout(core, { sessionId, runId }, signal);
        if (state === 'ended') finish(result ?? { stopReason: 'lost' });
      } catch (reason) {
        end(reason as GatewayError);
      }
    };
    const take = (event: GatewayEvent) => {
      const { type } = event;
      const isGap = type === 'gap' || type === 'snapshot';
      if (isOver || !(isGap || ('runId' in event && event.runId === runId))) return;
      deliver(event);
      if (type === 'snapshot') {
        const run = openRun(event.state, runId);
        if (run) answerId = run.message.id;
        else if (!event.state.queue.some((queued) => queued.runId === runId)) void recover();
      } else if (type === 'message_start' || type === 'run_spawned') answerId = event.messageId;
      else if (type === 'run_error') error = { code: event.code, message: event.message };
      else if (type === 'message_end') {
        const { type: _, sessionId: __, ts: ___, lane: ____, parentRunId: _____, ...end } = event;
        finish({ ...end, runId });
      }
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

/** The run of that id that goes on, in the conversation or beside it. */
const openRun = ({ run, lanes = [] }: SessionState, runId: string): ActiveRun | undefined =>
  run?.runId === runId ? run : lanes.find((lane) => lane.runId === runId && !lane.stopReason);

/** Asks for the state of a run, however long that takes. Rejects if the gateway refuses, or if nobody waits any more. */
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

/** The text of a run's events. Text that a gap has swallowed is taken from the answer itself. */
async function* textIn(
  events: AsyncIterable<GatewayEvent>,
  origin: Promise<ClientRunOrigin>,
  outcome: () => RunResult | undefined,
): AsyncGenerator<string, void, void> {
  let length = 0;
  const rest = (message: Message | undefined) => (message ? textOf(message).slice(length) : '');
  for await (const event of events) {
    let text = '';
    if (event.type === 'content_delta') text = event.delta;
    else if (event.type === 'snapshot') text = rest(openRun(event.state, (await origin).runId)?.message);
    length += text.length;
    if (text) yield text;
  }
  const text = rest(outcome()?.message);
  if (text) yield text;
}
