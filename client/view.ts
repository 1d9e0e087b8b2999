import { formatHistoryCursor } from '../shared/cursor.js';
import { type GatewayEvent, isDelta } from '../shared/events.js';
import { initialState, reduce, type SessionState } from '../shared/fold.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { Message } from '../shared/messages.js';
import { createListeners } from './listeners.js';
import type { PendingRegeneration, SendingMessage } from './outbox.js';
import type { Core } from './run.js';
import { quietTimer } from './timing.js';

/** A view outlives its last subscriber so long, so that a page that mounts again need not connect again. */
const LINGER_MS = 1000;
const PAGE = 50;

/**
 * The state of a session, for a person. `loading`: nothing is known of it yet. `running`: a message is on its way, queued or being answered.
 * `waiting`: for somebody's answer. `closed`: the conversation is over. `error`: nothing more will come, and `error` says why.
 */
export type WatchStatus = 'loading' | 'ready' | 'running' | 'waiting' | 'closed' | 'error';

/** A session's state, with this client's sends that are not in it yet. `messages` also has the pages of `loadEarlier`. */
export interface WatchState extends SessionState {
  readonly status: WatchStatus;
  /** Messages on their way, and those that failed. */
  readonly sending: readonly SendingMessage[];
  /** The last new answer that was requested here, until it has begun; also a failed one. */
  readonly regenerating?: PendingRegeneration;
  /** The reason why nothing more will come. */
  readonly error?: GatewayError;
  /** Whether the state was kept on the device and the gateway has not yet confirmed it (`…/client/offline`). */
  readonly stale?: true;
}

/** The kind of a change: a piece of text at the end of the growing answer, or anything else. */
export type WatchChange = 'delta' | 'state';

/** The session's own part of a watch's state. A state that was rendered elsewhere may be either. */
export function stateOf({
  status: _,
  sending: __,
  regenerating: ___,
  error: ____,
  ...state
}: SessionState & Partial<WatchState>): SessionState {
  return state;
}

/** A session as a page shows it. It follows the session while somebody looks, and a moment longer. */
export interface LiveView {
  readonly sessionId: string;
  /** The same object until something changes. */
  current(): WatchState;
  /** Calls the listener after each change. Returns a function that removes it. */
  subscribe(listener: (change: WatchChange) => void): () => void;
  /** Begins again, if somebody looks. */
  retry(): void;
  loadEarlier(limit?: number): Promise<void>;
}

/** The view of a session that somebody looks at. There is one for a session, whatever the number of subscribers and the spelling of its key. */
export function findView({ views, connection }: Core, sessionId: string): LiveView | undefined {
  const name = connection.canonical(sessionId);
  return [...views].find((view) => connection.canonical(view.sessionId) === name);
}

/** @param from A state to go on from. */
export function createView(core: Core, sessionId: string, from: SessionState | undefined): LiveView {
  const { call, connection, outbox, person, views } = core;
  const listeners = createListeners<[WatchChange]>();
  let state = from ? stateOf(from) : initialState;
  let isKnown = from !== undefined;
  let error: GatewayError | undefined;
  /** Messages before the state's own, and whether the gateway has reported that none come before them. */
  let earlier: readonly Message[] = [];
  let isWhole = false;
  let loading: Promise<void> | undefined;
  let { era, life } = person;
  let stop: (() => void) | undefined;
  let linger: ReturnType<typeof setTimeout> | undefined;
  /** All messages, and the lists that they are joined from. */
  let joined = { earlier, messages: state.messages, all: state.messages };
  let shown: WatchState | undefined;
  let shownOf: SessionState | undefined;
  /** The state that the listeners saw last. */
  let told: WatchState | undefined;

  const isMine = (id: string) => connection.canonical(id) === connection.canonical(sessionId);
  const hasMore = () => !isWhole && (earlier[0] ? earlier[0].parentId != null : state.hasMore);

  /** The sends that the state does not show. Shown ones are done. */
  const unseen = () => {
    const all = outbox.of(isMine);
    if (all.length === 0) return all;
    const { messages, queue, run, lanes = [] } = state;
    const asked = [...queue.map(({ message }) => message), ...lanes.map((lane) => lane.asked)];
    const seen = new Set([...messages, ...asked].map(({ id }) => id));
    for (const of of [run, ...queue, ...lanes, ...messages]) if (of?.runId) seen.add(of.runId);
    return all.filter((entry) => {
      // A message that is answered again is shown all the time, so look for its run.
      const id = 'message' in entry ? entry.message.id : (entry.runId ?? '');
      // Not at once, so that other listeners of the outbox are called after this view shows the message.
      if (seen.has(id)) queueMicrotask(() => outbox.remove(entry.key));
      return !seen.has(id);
    });
  };
  const statusOf = (onTheirWay: readonly { readonly status: string }[]): WatchStatus => {
    const { pending, run, lanes, queue, closed } = state;
    if (error) return 'error';
    if (!isKnown) return 'loading';
    if (pending.length > 0) return 'waiting';
    if (run || lanes || queue.length > 0 || onTheirWay.some(({ status }) => status === 'sending'))
      return 'running';
    return closed ? 'closed' : 'ready';
  };
  /** Drops what another person has seen, or may have seen if nobody has looked at it since. */
  const drop = () => {
    if (life === person.life && (era === person.era || !listeners.isEmpty())) return;
    ({ era, life } = person);
    close();
    state = initialState;
    earlier = [];
    isKnown = isWhole = false;
    error = undefined;
  };
  const current = (): WatchState => {
    drop();
    const { messages } = state;
    if (joined.earlier !== earlier || joined.messages !== messages)
      joined = { earlier, messages, all: earlier.length === 0 ? messages : [...earlier, ...messages] };
    const onTheirWay = unseen();
    const missing = onTheirWay.filter((entry) => 'message' in entry);
    const regenerating = onTheirWay
      .filter((entry): entry is PendingRegeneration => !('message' in entry))
      .at(-1);
    const sending = shown && isSame(missing, shown.sending) ? shown.sending : missing;
    const next: WatchState = {
      ...state,
      messages: joined.all,
      hasMore: hasMore(),
      status: statusOf(onTheirWay),
      sending,
      ...(regenerating && { regenerating }),
      ...(error && { error }),
    };
    // A new session state is shown as a new object without a comparison, which would cost too much for each piece of text.
    if (!shown || shownOf !== state || !isSame(next, shown)) shown = next;
    shownOf = state;
    return shown;
  };
  const refresh = (change: WatchChange = 'state') => {
    if (current() === told) return;
    told = shown;
    listeners.emit(change);
  };

  /** Keeps the earlier messages if the new state's messages follow them. */
  const keepEarlier = (known: readonly Message[]) => {
    const at = known.findIndex(({ id }) => id === state.messages[0]?.parentId);
    earlier = known.slice(0, at + 1);
    isWhole &&= at >= 0;
  };
  const take = (events: readonly GatewayEvent[]) => {
    let change: WatchChange = 'delta';
    for (const event of events) {
      if (!isDelta(event)) change = 'state';
      const { messages } = state;
      state = reduce(state, event);
      if (event.type === 'snapshot' || event.type === 'history_moved') keepEarlier([...earlier, ...messages]);
      isKnown = true;
    }
    refresh(change);
  };

  const close = () => {
    clearTimeout(linger);
    stop?.();
    stop = undefined;
    views.delete(view);
  };
  const start = () => {
    person.look();
    drop();
    if (stop) return;
    error = undefined;
    told = shown;
    views.add(view);
    const stops = [
      outbox.subscribe(() => refresh()),
      // The key's other spelling is known once the client is connected.
      connection.subscribe(() => refresh()),
    ];
    stop = () => {
      for (const each of stops) each();
    };
    const following = connection.follow(sessionId, (isKnown && state.cursor) || 'snapshot', {
      take,
      begun: ({ epoch }) => {
        // A session that has not begun has no snapshot.
        isKnown ||= epoch === null;
        refresh();
      },
      end: (cause) => {
        error = cause;
        close();
        refresh();
      },
    });
    stops.push(following.stop);
    refresh();
  };
  const loadPage = async (limit: number): Promise<void> => {
    while (hasMore()) {
      const wasEarlier = earlier;
      const first = earlier[0] ?? state.messages[0];
      const epoch = state.cursor?.split('.')[0];
      const page = await call('history', {
        sessionId,
        limit,
        ...(first && epoch && { before: formatHistoryCursor(epoch, first.id) }),
      });
      // A snapshot came meanwhile and changed the first message.
      if (earlier !== wasEarlier) continue;
      earlier = [...page.messages, ...earlier];
      isWhole = !page.hasMore;
      return refresh();
    }
  };

  const view: LiveView = {
    sessionId,
    current,
    subscribe: (listener) => {
      clearTimeout(linger);
      start();
      const stops = [
        listeners.subscribe(listener),
        person.subscribe(() => {
          start();
          refresh();
        }),
      ];
      return () => {
        for (const each of stops) each();
        clearTimeout(linger);
        if (listeners.isEmpty()) linger = quietTimer(LINGER_MS, close);
      };
    },
    retry: () => {
      if (!listeners.isEmpty()) start();
    },
    loadEarlier: (limit = PAGE) => {
      loading ??= loadPage(limit).finally(() => {
        loading = undefined;
      });
      return loading;
    },
  };
  return view;
}

/** Whether two objects or lists have the same entries. */
function isSame<T extends object>(a: T, b: T): boolean {
  const keys = Object.keys(a) as (keyof T)[];
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
