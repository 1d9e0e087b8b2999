import type { GatewayEvent, OnBusy } from '../shared/events.js';
import type { SessionState } from '../shared/fold.js';
import type { GatewayError } from '../shared/gateway-error.js';
import { type Message, type SendInput, type StopReason, textOf } from '../shared/messages.js';
import type { Accepted, ResultOf, RunResult } from '../shared/operation-types.js';
import type { Call } from './call.js';
import type { Connection } from './connection.js';
import { EventIterator } from './event-iterator.js';
import { isFinal } from './line.js';
import type { UntypedCalls } from './method-calls.js';
import type { SignalOptions } from './options.js';
import { draftMessage, identified, type Outbox } from './outbox.js';
import { randomId } from './random.js';
import { Reader, type Start } from './reader.js';
import { type Aborts, abortError, backoff, delay, joinAborts } from './timing.js';
import type { Views } from './view.js';

const HISTORY_LIMIT = 1000;

/** What sessions and runs are made of. */
export interface Core {
  readonly connection: Connection;
  readonly call: Call;
  /** Calls of the gateway's methods, in a session. */
  calls(bound: { readonly sessionId: string }): UntypedCalls;
  readonly outbox: Outbox;
  readonly aborts: Aborts;
  readonly views: Views;
}

/**
 * Options of `send`. A signal gives up a message that was not accepted yet (`ABORTED`); later it ends the iterations and the wait for
 * the result, and no run.
 */
export interface SendOptions extends SignalOptions {
  /** Starts at most one run, however often it is sent. @default a random one */
  readonly idempotencyKey?: string | undefined;
  /** @default 'queue' */
  readonly onBusy?: OnBusy | undefined;
  /** Reaches the app as `turn.metadata`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A run, followed to its end. Iterating yields its events, from its beginning each time; leaving the iteration only detaches. A `gap`
 * with its `snapshot` in between says that events are missing.
 */
export interface FollowedRun extends AsyncIterable<GatewayEvent> {
  /**
   * Resolves whatever the run's end, through any outage, with `stopReason: 'lost'` where it cannot be known any more (`error` says why,
   * if this client gave up). Rejects only if the message was never accepted. Needs no handler.
   */
  readonly result: Promise<RunResult>;
  /** The answer's text as it grows; joined, it is the whole. */
  readonly text: AsyncIterable<string>;
  /** Ends the run, also before it starts. */
  abort(reason?: string): Promise<ResultOf<'abort'>>;
}

/** A sent message and its run. */
export interface Run extends FollowedRun {
  readonly idempotencyKey: string;
  /**
   * Rejects when the gateway refused the message, or surely never got it. While it may have been accepted, it is asked for again, for as
   * long as it takes.
   */
  readonly accepted: Promise<Accepted>;
}

/** Sends a message and follows its run to the end, whether or not anybody looks. */
export function startRun(core: Core, sessionId: string, input: SendInput, options: SendOptions = {}): Run {
  const { idempotencyKey = randomId(), signal, ...rest } = options;
  const { outbox, views } = core;
  const message = identified(input, idempotencyKey);
  const params = { ...rest, sessionId, message, idempotencyKey };
  const own = new AbortController();
  const leave = () => own.abort();
  signal?.addEventListener('abort', leave);
  if (signal?.aborted) leave();

  let hurry = () => {};
  const again = () => startRun(core, sessionId, input, { ...rest, idempotencyKey });
  const draft = draftMessage(message);
  const show = (status: 'sending' | 'failed', error?: GatewayError) =>
    outbox.set(sessionId, {
      key: idempotencyKey,
      message: draft,
      status,
      ...(error && { error }),
      retry: () => {
        if (status === 'sending') hurry();
        else again();
      },
      discard: () => {
        outbox.remove(idempotencyKey);
        leave();
      },
    });
  show('sending');
  const accepted = core.call(
    'send',
    { ...params, signal: own.signal },
    {
      onRetry: (error, now) => {
        hurry = now;
        if (outbox.has(idempotencyKey)) show('sending', error);
      },
    },
  ) as Promise<Accepted>;
  const runId = accepted.then((start) => start.runId);
  runId.catch(() => {});
  const release = () => signal?.removeEventListener('abort', leave);
  accepted.then(
    () => outbox.accepted(idempotencyKey, views.isShown(sessionId)),
    (error: GatewayError) => {
      if (own.signal.aborted) outbox.remove(idempotencyKey);
      else if (outbox.has(idempotencyKey)) show('failed', error);
    },
  );
  const followed = followRun(core, sessionId, {
    origin: accepted.then(({ runId, cursor, message: { id } }) => ({ runId, from: cursor, messageId: id })),
    signal,
    onOver: () => {
      release();
      outbox.accepted(idempotencyKey, false);
    },
  });
  return {
    ...followed,
    idempotencyKey,
    accepted,
    abort: (reason) => {
      const named = runId.catch(async (error: GatewayError) => {
        if (error.code !== 'ABORTED') throw error;
        // Given up on its way: whether it was accepted, only the same send can tell.
        return ((await core.call('send', params)) as Accepted).runId;
      });
      const aborted = named.then((id) => core.call('abort', { sessionId, runId: id, reason }));
      aborted.catch(() => {});
      return aborted;
    },
  };
}

/** Follows a run that was begun elsewhere, or before this page was loaded. */
export function findRun(
  core: Core,
  sessionId: string,
  runId: string,
  { signal }: SignalOptions = {},
): FollowedRun {
  return followRun(core, sessionId, {
    origin: Promise.resolve({ runId, from: 'snapshot' }),
    signal,
    onOver: () => {},
  });
}

/** Where a run is found in its session. */
interface Origin {
  readonly runId: string;
  readonly from: Start;
  /** The message it answers. */
  readonly messageId?: string;
}

interface Following {
  readonly origin: Promise<Origin>;
  readonly signal: AbortSignal | undefined;
  onOver(): void;
}

function followRun(core: Core, sessionId: string, { origin, signal, onOver }: Following): FollowedRun {
  const events: GatewayEvent[] = [];
  const iterators = new Set<EventIterator<GatewayEvent>>();
  let over: { readonly error?: GatewayError; readonly result?: RunResult } | undefined;
  const deliver = (event: GatewayEvent) => {
    events.push(event);
    for (const iterator of iterators) iterator.push(event);
  };
  const finish = (end: NonNullable<typeof over>) => {
    over = end;
    for (const iterator of iterators) iterator.end(end.error);
    if (end.result) onOver();
  };
  const iterate = () => {
    const iterator: EventIterator<GatewayEvent> = new EventIterator(
      { left: () => iterators.delete(iterator) },
      signal,
    );
    for (const event of events) iterator.push(event);
    if (over) iterator.end(over.error);
    else iterators.add(iterator);
    return iterator;
  };
  const result = origin.then((start) => follow(core, sessionId, start, { deliver, signal }));
  result.then(
    (end) => finish({ result: end }),
    (error) => finish({ error }),
  );
  return {
    result,
    text: { [Symbol.asyncIterator]: () => textIn(iterate(), origin, () => over?.result) },
    [Symbol.asyncIterator]: iterate,
    abort: async (reason) => core.call('abort', { sessionId, runId: (await origin).runId, reason }),
  };
}

interface Followed {
  deliver(event: GatewayEvent): void;
  readonly signal: AbortSignal | undefined;
}

/** Delivers the events of an accepted run until its end is known. */
function follow(
  core: Core,
  sessionId: string,
  { runId, from, messageId }: Origin,
  { deliver, signal }: Followed,
): Promise<RunResult> {
  return new Promise((resolve) => {
    let error: RunResult['error'];
    let answerId: string | undefined;
    let isOver = false;

    const finish = (result: Partial<RunResult> & Pick<RunResult, 'stopReason'>) => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener('abort', giveUp);
      const message: Message = {
        id: answerId ?? runId,
        role: 'assistant',
        content: [],
        createdAt: Date.now(),
      };
      resolve({ runId, message, cursor: from, ...(error && { error }), ...result });
      stop();
    };
    /** A gap swallowed the end: what is left is the answer, in the history. */
    const recover = async ({ cursor }: SessionState) => {
      stop();
      const messages = (await readHistory(core, sessionId, signal)) as readonly AnswerMessage[];
      const asked = messages.findIndex(({ id }) => id === messageId);
      const message =
        messages.find((each) => each.runId === runId && each.role === 'assistant') ??
        messages.find(({ id, role }, at) =>
          answerId ? id === answerId : asked >= 0 && at > asked && role === 'assistant',
        );
      if (message?.runId === runId && message.error) error = message.error;
      finish({
        stopReason: (message?.runId === runId && message.stopReason) || 'lost',
        ...(message && { message }),
        cursor: cursor ?? from,
      });
    };
    const take = (event: GatewayEvent) => {
      if (isOver) return;
      if (event.type === 'gap') return deliver(event);
      if (event.type === 'snapshot') {
        deliver(event);
        const { run, queue } = event.state;
        if (run?.runId === runId) answerId = run.message.id;
        else if (!queue.some((queued) => queued.runId === runId)) void recover(event.state);
        return;
      }
      if (!('runId' in event) || event.runId !== runId) return;
      deliver(event);
      if (event.type === 'message_start') answerId = event.messageId;
      else if (event.type === 'run_error') error = { code: event.code, message: event.message };
      else if (event.type === 'message_end') {
        const { type: _, sessionId: __, ts: ___, ...end } = event;
        finish({ ...end, runId });
      }
    };
    const end = ({ code, message } = abortError()) => {
      error = { code, message };
      finish({ stopReason: 'lost' });
    };
    const giveUp = () => end();
    const reader = new Reader(
      sessionId,
      from,
      {
        take: (batch) => {
          for (const event of batch) take(event);
        },
        // Nothing to be found in a session that has not begun.
        begun: () => from === 'snapshot' && reader.at?.epoch === null && giveUp(),
        end,
      },
      true,
    );
    let stop = () => {};
    stop = core.connection.follow(reader);
    signal?.addEventListener('abort', giveUp);
    if (signal?.aborted) giveUp();
    if (isOver) stop();
  });
}

/** A message of a history whose answers say what became of their runs. */
type AnswerMessage = Message & {
  readonly runId?: string;
  readonly stopReason?: StopReason;
  readonly error?: RunResult['error'];
};

/** Reads the last messages, however long that takes; none where the gateway refuses, or nobody waits any more. */
async function readHistory(
  { call, aborts }: Core,
  sessionId: string,
  signal: AbortSignal | undefined,
): Promise<readonly Message[]> {
  for (let tried = 0; ; tried++) {
    try {
      return (await call('history', { sessionId, limit: HISTORY_LIMIT, signal })).messages;
    } catch (cause) {
      const error = cause as GatewayError;
      if (isFinal(error) || error.code === 'ABORTED') return [];
    }
    const { joined, release } = joinAborts(aborts, signal);
    await delay(backoff(tried), joined.signal)
      .catch(() => {})
      .finally(release);
  }
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
