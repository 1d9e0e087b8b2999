import type { SessionState } from '../../shared/fold.js';
import type { Client } from '../client.js';
import { createListeners } from '../listeners.js';
import { isHidden } from '../page.js';
import type { Run } from '../run.js';
import type { SessionOperations } from '../session.js';
import { quietTimer } from '../timing.js';
import type { ClientState } from '../typed-events.js';
import type { WatchState } from '../view.js';
import type { Watch } from '../watch.js';

/** The actions of an interface on a session. The functions stay the same for as long as the session is shown. */
export interface SessionActions<Source = unknown>
  extends Pick<
      SessionOperations<Source>,
      'send' | 'edit' | 'regenerate' | 'move' | 'fork' | 'abort' | 'approve' | 'deny' | 'respond'
    >,
    Pick<Watch, 'loadEarlier' | 'retry'> {}

/** A session as an interface shows it, with its actions. The same object until something changes. */
export interface SessionView extends WatchState, SessionActions {}

/** The same for a gateway whose type is known: its tools, data blocks and questions by name. */
export type SessionViewOf<Source> = ClientState<Source, WatchState> & SessionActions<Source>;

/** A value that changes, as an interface reads it. */
export interface Observable<T> {
  readonly getSnapshot: () => T;
  /** Calls the listener after each change. Returns a function that removes it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** Options for opening a session. */
export interface SessionOptions {
  /** The state that a server rendered; the session goes on from it without a gap. Read once. */
  readonly initial?: SessionState | undefined;
  /** The app of the session, unless it is the default one. */
  readonly app?: string | undefined;
}

/** About one frame, for runtimes that do not announce the next one. */
const FRAME_MS = 16;

/** A session as an interface reads it. */
export interface SessionStore extends Observable<SessionView> {
  /** The state at the beginning, as a server has rendered it. */
  readonly getServerSnapshot: () => SessionView;
}

/** The shown state of each session, so that all components that show it show the same one. */
const shown = new WeakMap<object, Map<string, Observable<SessionView>>>();

/**
 * A session for an interface: a watch that reports growing text once a frame and everything else at once, and is stable in between. Opens nothing
 * before somebody subscribes.
 */
export function createSessionStore(
  client: Client,
  sessionId: string,
  { app, initial }: SessionOptions = {},
): SessionStore {
  const id = app === undefined ? sessionId : `${app}:${sessionId}`;
  const all = shown.get(client) ?? new Map<string, Observable<SessionView>>();
  shown.set(client, all);
  const session = client.session(id);
  const watch = session.watch({ initial });
  const { move, fork, approve, deny, respond } = session;
  const { loadEarlier, retry } = watch;
  const { subscribe, emit, isEmpty } = createListeners();
  /** The last message that was sent from here, until its run is over. */
  let sent: Run | undefined;
  let state = watch.getServerSnapshot();
  /** The state that the listeners saw last; a reader may have seen a later one. */
  let told: WatchState | undefined;
  let stop: (() => void) | undefined;
  let cancelFrame: (() => void) | undefined;

  /** The shown state. It stays the previous one until the frame that is waited for. */
  const current = () => {
    const now = cancelFrame ? state : watch.getSnapshot();
    if (now !== state) {
      state = now;
      view = { ...state, ...actions };
    }
    return view;
  };
  const begun = (run: Run) => {
    const over = () => {
      if (sent === run) sent = undefined;
    };
    sent = run;
    run.result.then(over, over);
    return run;
  };
  const actions: SessionActions = {
    send: (...args) => begun(session.send(...args)),
    edit: (...args) => begun(session.edit(...args)),
    // Means the answer that is shown now, whatever follows it meanwhile.
    regenerate: (messageId, options) => {
      const { run, tip } = current();
      return begun(session.regenerate(messageId ?? run?.message.id ?? tip ?? undefined, options));
    },
    move,
    fork,
    abort: async (options) => {
      const { run, queue } = current();
      const runId = options?.runId ?? (run ?? queue[0])?.runId;
      if (runId) return session.abort({ ...options, runId });
      return (await sent?.abort(options?.reason)) ?? { aborted: false };
    },
    approve,
    deny,
    respond,
    loadEarlier,
    retry,
  };
  let view: SessionView = { ...state, ...actions };
  const first = view;

  const letFrameGo = () => {
    cancelFrame?.();
    cancelFrame = undefined;
  };
  const show = () => {
    letFrameGo();
    const now = watch.getSnapshot();
    if (now === told) return;
    told = now;
    emit();
  };
  const own: Observable<SessionView> = {
    getSnapshot: current,
    subscribe: (listener) => {
      const unsubscribe = subscribe(listener);
      all.set(id, own);
      stop ??= watch.subscribe((change) => {
        if (change === 'delta') cancelFrame ??= onNextFrame(show);
        else show();
      });
      return () => {
        unsubscribe();
        if (!isEmpty()) return;
        stop?.();
        stop = undefined;
        letFrameGo();
        if (all.get(id) === own) all.delete(id);
      };
    },
  };
  const present = () => all.get(id) ?? own;
  return {
    getSnapshot: () => present().getSnapshot(),
    getServerSnapshot: () => first,
    subscribe: (listener) => present().subscribe(listener),
  };
}

/** Calls back before the next frame is drawn. Hidden pages draw none. */
function onNextFrame(run: () => void): () => void {
  if (typeof requestAnimationFrame === 'function' && !isHidden()) {
    const frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  }
  const timer = quietTimer(FRAME_MS, run);
  return () => clearTimeout(timer);
}
