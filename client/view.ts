import type { GatewayEvent } from '../shared/events.js';
import { initialState, reduce, type SessionState } from '../shared/fold.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { Message } from '../shared/messages.js';
import { Listeners } from './listeners.js';
import type { SendingMessage } from './outbox.js';
import { Reader } from './reader.js';
import type { Core } from './run.js';
import { quietTimer } from './timing.js';

/** How long a view outlives its last subscriber, so that a page that mounts anew need not connect anew. */
const LINGER_MS = 1000;
const PAGE = 50;
/** The most a history gives at once. */
const LONGEST_PAGE = 1000;

/**
 * What a session is doing, for a person. `loading`: nothing is known of it yet. `running`: a message is on its way, queued or being
 * answered. `waiting`: for somebody's answer. `closed`: the conversation is over. `error`: nothing more will come, and `error` says why.
 */
export type WatchStatus = 'loading' | 'ready' | 'running' | 'waiting' | 'closed' | 'error';

/** A session's state, with this client's sends that are not in it yet. `messages` also has what `loadEarlier` brought. */
export interface WatchState extends SessionState {
  readonly status: WatchStatus;
  /** Messages on their way, and those that failed. */
  readonly sending: readonly SendingMessage[];
  /** Why nothing more will come. */
  readonly error?: GatewayError;
}

/** What a change was of: a piece of text at the end of the growing answer, or anything else. */
export type WatchChange = 'delta' | 'state';

/** The views that somebody looks at: one a session, however many look. */
export class Views {
  readonly #live = new Set<View>();
  readonly #isSame: (a: string, b: string) => boolean;

  constructor(isSame: (a: string, b: string) => boolean) {
    this.#isSame = isSame;
  }

  find(sessionId: string): View | undefined {
    return [...this.#live].find((view) => this.#isSame(view.sessionId, sessionId));
  }

  isShown(sessionId: string): boolean {
    return this.find(sessionId) !== undefined;
  }

  add(view: View): void {
    this.#live.add(view);
  }

  delete(view: View): void {
    this.#live.delete(view);
  }
}

/** The session's own part of what a watch shows. What was rendered elsewhere may be either. */
export function stateOf({
  status: _,
  sending: __,
  error: ___,
  ...state
}: SessionState & Partial<WatchState>): SessionState {
  return state;
}

/** A session as a page shows it. It follows the session while somebody looks, and a moment longer. */
export class View {
  readonly sessionId: string;
  readonly #core: Core;
  readonly #listeners = new Listeners<[WatchChange]>();
  #state: SessionState;
  #isKnown: boolean;
  #error: GatewayError | undefined;
  /** Messages from before the state's own, and the place of the page before them. */
  #earlier: readonly Message[] = [];
  #before: string | null | undefined;
  /** Whether the pages read so far reach back to what was known. */
  #isJoined = false;
  #loading: Promise<void> | undefined;
  #current: WatchState;
  #shown: { readonly state: SessionState; readonly earlier: readonly Message[] };
  #outboxVersion = -1;
  #stop: (() => void) | undefined;
  #linger: ReturnType<typeof setTimeout> | undefined;

  constructor(core: Core, sessionId: string, from: SessionState | undefined) {
    this.sessionId = sessionId;
    this.#core = core;
    this.#state = from ? stateOf(from) : initialState;
    this.#isKnown = from !== undefined;
    this.#shown = { state: this.#state, earlier: this.#earlier };
    this.#current = { ...this.#state, status: 'loading', sending: [] };
    this.#current = this.#render([]);
  }

  get current(): WatchState {
    this.#refresh();
    return this.#current;
  }

  subscribe(listener: (change: WatchChange) => void): () => void {
    clearTimeout(this.#linger);
    const stop = this.#listeners.subscribe(listener);
    this.#start();
    return () => {
      stop();
      clearTimeout(this.#linger);
      if (this.#listeners.size === 0) this.#linger = quietTimer(LINGER_MS, () => this.close());
    };
  }

  close(): void {
    clearTimeout(this.#linger);
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
    const { views, outbox } = this.#core;
    views.delete(this);
    outbox.forget(this.#isMine);
  }

  retry(): void {
    if (this.#listeners.size > 0) this.#start();
  }

  loadEarlier(limit = PAGE): Promise<void> {
    this.#loading ??= this.#loadEarlier(limit).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  #start(): void {
    if (this.#stop) return;
    const { connection, outbox, views } = this.#core;
    this.#error = undefined;
    const { cursor } = this.#state;
    const reader = new Reader(this.sessionId, (this.#isKnown && cursor) || 'snapshot', {
      take: (events) => this.#take(events),
      begun: () => {
        // Of what has not begun there is no snapshot.
        if (reader.at?.epoch !== null || this.#isKnown) return;
        this.#isKnown = true;
        this.#refresh('state');
      },
      end: (error) => {
        this.#error = error;
        this.close();
        this.#refresh('state');
      },
    });
    views.add(this);
    const stops = [
      outbox.listeners.subscribe(() => this.#refresh('state')),
      // A session's other spelling is known once it is connected.
      connection.subscribe(() => {
        this.#outboxVersion = -1;
        this.#refresh('state');
      }),
      connection.follow(reader),
    ];
    this.#stop = () => {
      for (const stop of stops) stop();
    };
    this.#refresh('state');
  }

  readonly #isMine = (sessionId: string): boolean => {
    const { connection } = this.#core;
    return connection.canonical(sessionId) === connection.canonical(this.sessionId);
  };

  #take(events: readonly GatewayEvent[]): void {
    let change: WatchChange = 'delta';
    for (const event of events) {
      if (event.type !== 'content_delta' && event.type !== 'reasoning_delta') change = 'state';
      if (event.type === 'snapshot') this.#keepEarlier(event.state.messages);
      this.#state = reduce(this.#state, event);
      this.#isKnown = true;
      if (event.type === 'message_accepted') this.#outboxVersion = -1;
    }
    this.#refresh(change);
  }

  /** What a snapshot leaves out is kept if it goes on from there; otherwise messages in between might be missing. */
  #keepEarlier(messages: readonly Message[]): void {
    const known = [...this.#earlier, ...this.#state.messages];
    const at = known.findIndex(({ id }) => id === messages[0]?.id);
    if (at > 0) this.#earlier = known.slice(0, at);
    else {
      this.#earlier = [];
      this.#before = undefined;
      this.#isJoined = false;
    }
  }

  async #loadEarlier(limit: number): Promise<void> {
    const { call } = this.#core;
    for (;;) {
      const earlier = this.#earlier;
      const first = (earlier[0] ?? this.#state.messages[0])?.id;
      if (!this.#hasMore) return;
      const before = this.#before;
      // The first page is counted from the end, so that it holds what is known already.
      const size = before ? limit : Math.min(limit + this.#state.messages.length, LONGEST_PAGE);
      const page = await call('history', {
        sessionId: this.sessionId,
        limit: size,
        ...(before && { before }),
      });
      // A snapshot came meanwhile, and with it another beginning.
      if (earlier !== this.#earlier || before !== this.#before) continue;
      const at = page.messages.findIndex(({ id }) => id === first);
      // Until the page that reaches what is known, all of it is newer.
      this.#isJoined ||= at >= 0 || first === undefined;
      const older = this.#isJoined ? page.messages.slice(0, at < 0 ? undefined : at) : [];
      this.#before = page.cursor;
      if (older.length === 0) continue;
      this.#earlier = [...older, ...earlier];
      return this.#refresh('state');
    }
  }

  get #hasMore(): boolean {
    return this.#before === undefined ? this.#state.hasMore : this.#before !== null;
  }

  #refresh(change?: WatchChange): void {
    const { outbox } = this.#core;
    const { state, earlier } = this.#shown;
    const isSame = state === this.#state && earlier === this.#earlier && this.#current.error === this.#error;
    if (
      isSame &&
      this.#outboxVersion === outbox.version &&
      this.#status(this.#current.sending) === this.#current.status
    )
      return;
    const sending = this.#sending();
    const old = this.#current;
    const next = this.#render(sending);
    if (isSame && next.sending === old.sending && next.status === old.status && next.hasMore === old.hasMore)
      return;
    this.#current = next;
    if (change) this.#listeners.emit(change);
  }

  /** The sends that the state does not show. Those that were accepted and are shown now are done. */
  #sending(): readonly SendingMessage[] {
    const { outbox } = this.#core;
    const all = outbox.of(this.#isMine);
    this.#outboxVersion = outbox.version;
    if (all.length === 0) return all;
    const { messages, queue } = this.#state;
    const shown = new Set([...messages, ...queue.map(({ message }) => message)].map(({ id }) => id));
    const [there, missing] = [
      all.filter(({ message }) => shown.has(message.id)),
      all.filter(({ message }) => !shown.has(message.id)),
    ];
    // Not at once: whoever else looks at the outbox is told when this view shows the message.
    queueMicrotask(() => {
      for (const { key } of there) outbox.remove(key);
    });
    return missing;
  }

  #render(sending: readonly SendingMessage[]): WatchState {
    const old = this.#current;
    const isSame =
      sending.length === old.sending.length && sending.every((entry, at) => entry === old.sending[at]);
    const { messages } = this.#state;
    const earlier = this.#earlier;
    const isUnmoved = this.#shown.earlier === earlier && this.#shown.state.messages === messages;
    this.#shown = { state: this.#state, earlier };
    const kept = isSame ? old.sending : sending;
    return {
      ...this.#state,
      messages: earlier.length === 0 ? messages : isUnmoved ? old.messages : [...earlier, ...messages],
      hasMore: this.#hasMore,
      status: this.#status(kept),
      sending: kept,
      ...(this.#error && { error: this.#error }),
    };
  }

  #status(sending: readonly SendingMessage[]): WatchStatus {
    const { pending, run, queue, closed } = this.#state;
    if (this.#error) return 'error';
    if (!this.#isKnown) return 'loading';
    if (pending.length > 0) return 'waiting';
    if (run || queue.length > 0 || sending.some(({ status }) => status === 'sending')) return 'running';
    return closed ? 'closed' : 'ready';
  }
}
