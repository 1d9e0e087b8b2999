import type { AnswerTo, ContentOf } from '../shared/content.js';
import type { EventOf, EventType, GatewayEvent, SessionChanges } from '../shared/events.js';
import type { SessionState } from '../shared/fold.js';
import type { SendInput } from '../shared/messages.js';
import type { ParamsOf, ResultOf, SessionStatusResult } from '../shared/operation-types.js';
import type { FollowHandle } from './connection.js';
import { createIterator } from './event-iterator.js';
import { bindCalls, type MethodCalls } from './method-calls.js';
import type { SignalOptions } from './options.js';
import type { Start } from './reader.js';
import {
  type Core,
  type EditOptions,
  type FollowedRun,
  findRun,
  type Run,
  type RunOptions,
  type SendOptions,
  startRun,
} from './run.js';
import type {
  ChannelInput,
  ChannelNames,
  ChannelPayload,
  ClientEvent,
  ClientHistory,
  ClientState,
} from './typed-events.js';
import { createWatch, loadState, type Watch } from './watch.js';

/** Options of an iteration over events. A signal ends it without an error. */
export interface EventsOptions<Type extends EventType = EventType> extends SignalOptions {
  /** The start: a word, or a cursor, after whose event it begins. @default 'run' */
  readonly from?: Start | undefined;
  /** Yields only these types. `gap` and `snapshot` tell of missing events, so fold events only if both are included. @default all */
  readonly types?: readonly Type[] | undefined;
}

/** A message that was published on a channel. */
export interface ChannelMessage<Payload> {
  readonly type: string;
  readonly payload: Payload;
  readonly gap?: undefined;
}

/** Reports missing messages of a channel, which are no longer kept. */
export interface ChannelGap {
  readonly type: 'gap';
  readonly gap: EventOf<'gap'>;
  readonly payload?: undefined;
}

/** A channel of a session. Iterating yields messages from now on, this client's own included. */
export interface Channel<Input, Payload> extends AsyncIterable<ChannelMessage<Payload> | ChannelGap> {
  publish(
    payload: Input,
    options?: SignalOptions & { readonly type?: string | undefined },
  ): Promise<ResultOf<'channel'>>;
}

/** An answer to a confirmation, a question or a client tool's call. */
export interface Answer<Output = unknown>
  extends Omit<ParamsOf<'tool-response'>, 'sessionId' | 'callId' | 'output'> {
  readonly output?: Output | undefined;
}
/** The call that is answered: its id, or an object that carries it, such as a pending question or an event. */
export type Asked<Name extends string = string> = string | { readonly callId: string; readonly name: Name };
/** Options of `abort`. */
export type AbortOptions = SignalOptions & Omit<ParamsOf<'abort'>, 'sessionId'>;
/** Options of `import`. */
export type ImportOptions = SignalOptions & Omit<ParamsOf<'import'>, 'sessionId' | 'messages'>;
/** Options of `history`. */
export type HistoryOptions = SignalOptions & Omit<ParamsOf<'history'>, 'sessionId'>;

/** The id of a message, null for the beginning, or a version of a message, with its last continuation. */
export type MoveTarget = string | null | { readonly version: string };
/** Options of `fork`. */
export type ForkOptions = SignalOptions & Omit<ParamsOf<'fork'>, 'sessionId' | 'to'>;

/** One session, as a client sees it. All promises reject with `GatewayError`. */
export type ClientSession<Source = unknown> = SessionOperations<Source> & MethodCalls<Source, SignalOptions>;

/** The operations of every session. Call them as its methods: `context.session` is this session. */
export interface SessionOperations<Source = unknown> {
  readonly id: string;
  /** Sends a message at once, and at most once, whatever the network does. */
  send(input: SendInput, options?: SendOptions): Run<Source>;
  /**
   * Sends a message in place of another one, which stays as one of its `versions`. `HISTORY_MOVED` if the conversation does not show the old one any
   * more, since somebody else was first.
   */
  edit(messageId: string, input: SendInput, options?: EditOptions): Run<Source>;
  /**
   * Has a message answered again. The new answer is a version beside the old one. `HISTORY_MOVED` as with `edit`.
   *
   * @param messageId Id of the answer, or of the message. @default the last one
   */
  regenerate(messageId?: string, options?: RunOptions): Run<Source>;
  /**
   * Moves the conversation's end to another message, shown or not, or to another of a message's `versions` with its last continuation; null for the
   * beginning. The active run and the queued ones end.
   */
  move(to: MoveTarget, options?: SignalOptions): Promise<ResultOf<'move'>>;
  /** Begins another session of the same app with the messages of this one. `SESSION_EXISTS` if there is one under that key. */
  fork(to: string, options?: ForkOptions): Promise<ResultOf<'fork'>>;
  /**
   * All events of the session, from every client, each once; ends when left. It listens from this call on. Throws the error with which the gateway
   * refuses the session.
   */
  events<Type extends EventType = EventType>(
    options?: EventsOptions<Type>,
  ): AsyncIterableIterator<ClientEvent<Source, Type>>;
  /** A run of this session that was begun elsewhere, or before this page was loaded. */
  run(runId: string, options?: SignalOptions): FollowedRun<Source>;
  /** The session's state, beginning with a server-rendered one if given. Follows the session while somebody subscribes. */
  watch(options?: {
    readonly initial?: SessionState | ClientState<Source, SessionState> | undefined;
  }): Watch<Source>;
  /** The session's present state, plain JSON. A server renders it, and `watch({ initial })` in the page goes on from it without a gap. */
  state(options?: SignalOptions): Promise<ClientState<Source, SessionState>>;
  channel<Name extends ChannelNames<Source>>(
    name: Name,
  ): Channel<ChannelInput<Source, Name>, ChannelPayload<Source, Name>>;
  /** Ends a run; without `runId` the active one, as far as this client knows it. */
  abort(options?: AbortOptions): Promise<ResultOf<'abort'>>;
  /** Changes the session's title, metadata, or whether it is archived. `null` removes a field; an absent field stays. */
  update(changes: SessionChanges, options?: SignalOptions): Promise<ResultOf<'update'>>;
  /** Ends the conversation. The next send begins a new one under the same id. */
  close(options?: SignalOptions): Promise<ResultOf<'close'>>;
  /** Ends the conversation and deletes all that the gateway keeps of the session. Followers receive `session_closed` with `deleted`. */
  delete(options?: SignalOptions): Promise<ResultOf<'delete'>>;
  /** Begins the session with messages from elsewhere. `SESSION_EXISTS` if it has begun; `ACCESS_DENIED` without the gateway's leave. */
  import(messages: readonly unknown[], options?: ImportOptions): Promise<ResultOf<'import'>>;
  respond<Name extends string = string>(
    asked: Asked<Name>,
    answer: Answer<AnswerTo<ContentOf<Source>, Name>>,
    options?: SignalOptions,
  ): Promise<ResultOf<'tool-response'>>;
  /** Allows a tool call, with `input` in place of its own if given. */
  approve(asked: Asked, input?: unknown): Promise<ResultOf<'tool-response'>>;
  deny(asked: Asked, reason?: string): Promise<ResultOf<'tool-response'>>;
  history(options?: HistoryOptions): Promise<ClientHistory<Source>>;
  status(options?: SignalOptions): Promise<SessionStatusResult>;
  /** Ends the iterations and watches begun here. Runs go on, and so do their results. */
  detach(): void;
}

/** Binds a client's operations to a session. */
export function bindSession(core: Core, id: string): ClientSession {
  const attached = new Set<() => void>();
  const { call, connection } = core;

  const iterate = <T>(start: Start, pick: (event: GatewayEvent) => T | undefined, signal?: AbortSignal) => {
    let following: FollowHandle | undefined;
    const iterator = createIterator<T>(
      {
        left: () => {
          attached.delete(leave);
          following?.stop();
        },
        drained: () => following?.drained(),
      },
      signal,
    );
    const leave = () => void iterator.return();
    if (iterator.isOver()) return iterator;
    attached.add(leave);
    following = connection.follow(id, start, {
      isFull: iterator.isFull,
      take: (events) => {
        for (const event of events) {
          const item = pick(event);
          if (item !== undefined) iterator.push(item);
        }
      },
      end: (error) => {
        attached.delete(leave);
        iterator.end(error);
      },
    });
    return iterator;
  };
  const respond: ClientSession['respond'] = (asked, answer, options) => {
    const callId = typeof asked === 'string' ? asked : asked.callId;
    return call('tool-response', { ...options, ...answer, sessionId: id, callId });
  };
  const status: ClientSession['status'] = (options) =>
    call('status', { ...options, sessionId: id }) as Promise<SessionStatusResult>;

  return {
    id,
    ...bindCalls(core, { sessionId: id }),
    send: (input, options) => startRun(core, id, { ...options, operation: 'send', input }),
    edit: (replaces, input, options) =>
      startRun(core, id, { ...options, operation: 'send', input, replaces }),
    regenerate: (messageId, options) =>
      startRun(core, id, { ...options, operation: 'regenerate', messageId }),
    move: (to, options) =>
      call('move', { ...options, ...(typeof to === 'object' && to ? to : { tip: to }), sessionId: id }),
    fork: (to, options) => call('fork', { ...options, sessionId: id, to }),
    run: (runId, { signal } = {}) => findRun(core, { sessionId: id, runId }, signal),
    events: ({ from = 'run', types, signal } = {}) => {
      const wanted = types && new Set<string>(types);
      return iterate(
        from,
        (event) => (wanted?.has(event.type) === false ? undefined : event),
        signal,
      ) as never;
    },
    watch: (options) => createWatch(core, id, options?.initial, attached),
    state: (options) => loadState(core, id, options?.signal),
    channel: (channel) => ({
      publish: (payload, options) => call('channel', { ...options, sessionId: id, channel, payload }),
      [Symbol.asyncIterator]: () =>
        iterate('now', (event) => {
          if (event.type === 'gap') return { type: 'gap', gap: event };
          return event.type === 'channel' && event.channel === channel ? event.event : undefined;
        }) as never,
    }),
    abort: async ({ runId, ...options } = {}) => {
      // A repeated request must not end the next run, so it names the one that is meant.
      const named = runId ?? connection.activeRun(id) ?? (await status({ signal: options.signal })).runId;
      return named === undefined
        ? { aborted: false }
        : call('abort', { ...options, sessionId: id, runId: named });
    },
    update: (changes, options) => call('update', { ...options, ...changes, sessionId: id }),
    close: (options) => call('close', { ...options, sessionId: id }),
    delete: (options) => call('delete', { ...options, sessionId: id }),
    import: (messages, options) => call('import', { ...options, sessionId: id, messages }),
    respond,
    approve: (asked, input) => respond(asked, { approved: true, input }),
    deny: (asked, reason) => respond(asked, { approved: false, reason }),
    history: (options) => call('history', { ...options, sessionId: id }),
    status,
    detach: () => {
      for (const leave of [...attached]) leave();
    },
  };
}
