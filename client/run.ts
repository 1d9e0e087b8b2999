import type { GatewayEvent, OnBusy } from '../shared/events.js';
import type { SessionState } from '../shared/fold.js';
import { GatewayError } from '../shared/gateway-error.js';
import { type Message, type SendInput, textOf } from '../shared/messages.js';
import type { Accepted, ResultOf, RunResult } from '../shared/operation-types.js';
import type { Call } from './call.js';
import type { Connection } from './connection.js';
import { EventIterator } from './event-iterator.js';
import type { SignalOptions } from './options.js';
import { draftMessage, type Outbox } from './outbox.js';
import { Reader } from './reader.js';

const HISTORY_LIMIT = 1000;

/** What sessions and runs are made of. */
export interface Core {
  readonly connection: Connection;
  readonly call: Call;
  readonly outbox: Outbox;
}

/** Options of `send`. A signal gives up a message that was not accepted yet (`ABORTED`); later it only ends iterations. */
export interface SendOptions extends SignalOptions {
  /** Starts at most one run, however often it is sent. @default a random one */
  readonly idempotencyKey?: string | undefined;
  /** @default 'queue' */
  readonly onBusy?: OnBusy | undefined;
  /** Reaches the app as `turn.metadata`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A sent message and its run. Iterating yields the run's events, from its beginning each time; leaving the iteration only
 * detaches. A `gap` with its `snapshot` in between says that events are missing.
 */
export interface Run extends AsyncIterable<GatewayEvent> {
  readonly idempotencyKey: string;
  /** Rejects when the gateway refused the message or could not be reached. */
  readonly accepted: Promise<Accepted>;
  /**
   * Resolves whatever the run's end, with `stopReason: 'lost'` where it cannot be known any more (`error` says why, if this client
   * gave up). Rejects only if the message was never accepted. Needs no handler.
   */
  readonly result: Promise<RunResult>;
  /** The answer's text as it grows; joined, it is the whole. */
  readonly text: AsyncIterable<string>;
  /** Ends the run, also before it starts. */
  abort(reason?: string): Promise<ResultOf<'abort'>>;
}

/** Sends a message and follows its run to the end, whether or not anybody looks. */
export function startRun(core: Core, sessionId: string, input: SendInput, options: SendOptions = {}): Run {
  const { idempotencyKey = crypto.randomUUID(), signal } = options;
  const events: GatewayEvent[] = [];
  const iterators = new Set<EventIterator<GatewayEvent>>();
  let over: { readonly error?: GatewayError; readonly result?: RunResult } | undefined;

  const sending = { key: idempotencyKey, message: draftMessage(input, idempotencyKey) };
  const seen = () => core.outbox.remove(sending);
  const deliver = (event: GatewayEvent) => {
    // A watch that gets the same event shows the message before it stops showing the draft.
    queueMicrotask(seen);
    events.push(event);
    for (const iterator of iterators) iterator.push(event);
  };
  const finish = (end: NonNullable<typeof over>) => {
    seen();
    over = end;
    for (const iterator of iterators) iterator.end(end.error);
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

  core.outbox.add(sessionId, sending);
  const accepted = core.call('send', {
    ...options,
    sessionId,
    message: input,
    idempotencyKey,
  }) as Promise<Accepted>;
  const runId = accepted.then((start) => start.runId);
  const result = accepted.then((start) => follow(core, sessionId, start, deliver));
  runId.catch(() => {});
  result.then(
    (end) => finish({ result: end }),
    (error) => finish({ error }),
  );

  return {
    idempotencyKey,
    accepted,
    result,
    text: { [Symbol.asyncIterator]: () => textIn(iterate(), runId, () => over?.result) },
    [Symbol.asyncIterator]: iterate,
    abort: (reason) => {
      const aborted = runId.then((id) => core.call('abort', { sessionId, runId: id, reason }));
      aborted.catch(() => {});
      return aborted;
    },
  };
}

/** Delivers the events of an accepted run until its end is known. */
function follow(
  core: Core,
  sessionId: string,
  start: Accepted,
  deliver: (event: GatewayEvent) => void,
): Promise<RunResult> {
  const { runId } = start;
  return new Promise((resolve) => {
    let error: RunResult['error'];
    let answerId: string | undefined;

    const finish = (result: Partial<RunResult> & Pick<RunResult, 'stopReason'>) => {
      const message: Message = {
        id: answerId ?? runId,
        role: 'assistant',
        content: [],
        createdAt: Date.now(),
      };
      resolve({ runId, message, cursor: start.cursor, ...(error && { error }), ...result });
      stop();
    };
    /** A gap swallowed the end: what is left is the answer, in the history. */
    const recover = async ({ cursor }: SessionState) => {
      stop();
      const messages = await core
        .call('history', { sessionId, limit: HISTORY_LIMIT })
        .then((page) => page.messages)
        .catch(() => []);
      const asked = messages.findIndex(({ id }) => id === start.message.id);
      const message = messages.find(({ id, role }, at) =>
        answerId ? id === answerId : asked >= 0 && at > asked && role === 'assistant',
      );
      finish({ stopReason: 'lost', ...(message && { message }), cursor: cursor ?? start.cursor });
    };
    const take = (event: GatewayEvent) => {
      if (event.type === 'gap') return deliver(event);
      if (event.type === 'snapshot') {
        deliver(event);
        const { run, queue } = event.state;
        if (run?.runId !== runId && !queue.some((queued) => queued.runId === runId))
          void recover(event.state);
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
    const giveUp = ({ code, message } = new GatewayError({ code: 'ABORTED' })) => {
      error = { code, message };
      finish({ stopReason: 'lost' });
    };
    const reader = new Reader(sessionId, start.cursor, {
      take: (batch) => {
        for (const event of batch) take(event);
        return true;
      },
      end: giveUp,
    });
    const stop = core.connection.follow(reader);
  });
}

/** The text of a run's events. What a gap has kept from the deltas is taken from the answer itself. */
async function* textIn(
  events: AsyncIterable<GatewayEvent>,
  runId: Promise<string>,
  outcome: () => RunResult | undefined,
): AsyncGenerator<string, void, void> {
  let length = 0;
  const rest = (message: Message | undefined) => (message ? textOf(message).slice(length) : '');
  for await (const event of events) {
    let text = '';
    if (event.type === 'content_delta') text = event.delta;
    else if (event.type === 'snapshot' && event.state.run?.runId === (await runId))
      text = rest(event.state.run.message);
    length += text.length;
    if (text) yield text;
  }
  const text = rest(outcome()?.message);
  if (text) yield text;
}
