import type { SessionState } from '../../shared/fold.js';
import type { Client } from '../client.js';
import { createListeners } from '../listeners.js';
import { isHidden } from '../page.js';
import type { Run } from '../run.js';
import type { ClientSession } from '../session.js';
import { quietTimer } from '../timing.js';
import type { WatchChange, WatchState } from '../view.js';
import type { Watch } from '../watch.js';

/** What an interface does with a session. The functions stay the same for as long as the session is shown. */
export interface SessionActions
  extends Pick<ClientSession, 'send' | 'abort' | 'approve' | 'deny' | 'respond'>,
    Pick<Watch, 'loadEarlier' | 'retry'> {}

/** A session as an interface shows it, and what can be done with it. The same object until something changes. */
export interface SessionView extends WatchState, SessionActions {}

/** A value that changes, as an interface reads it. */
export interface Shown<T> {
  readonly getSnapshot: () => T;
  /** Calls the listener after each change. Returns what stops it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** How a session is opened. */
export interface SessionOptions {
  /** The state that a server rendered; the session goes on from it without a gap. Read once. */
  readonly initial?: SessionState | undefined;
  /** The app of the session, where it is not the default one. */
  readonly app?: string | undefined;
}

/** About a frame, where there is nobody to say when the next one is. */
const FRAME_MS = 16;

/** What is on show, so that whoever shows the same session shows the same of it. */
const shown = new WeakMap<object, Map<string, SessionStore>>();

/**
 * A session for an interface: a watch that tells of growing text once a frame, of everything else at once, and holds still in between.
 * Opens nothing before somebody subscribes.
 */
export class SessionStore implements Shown<SessionView> {
  readonly #id: string;
  readonly #all: Map<string, SessionStore>;
  readonly #watch: Watch;
  readonly #actions: SessionActions;
  readonly #listeners = createListeners();
  readonly #first: SessionView;
  #state: WatchState;
  #view: SessionView;
  /** What the listeners were told of last; somebody may have looked at a later one. */
  #told: WatchState | undefined;
  /** The last message that was sent from here, until its run is over. */
  #sent: Run | undefined;
  #stop: (() => void) | undefined;
  #cancelFrame: (() => void) | undefined;

  constructor(client: Client, sessionId: string, { app, initial }: SessionOptions = {}) {
    this.#id = app === undefined ? sessionId : `${app}:${sessionId}`;
    this.#all = shown.get(client) ?? new Map();
    shown.set(client, this.#all);
    const session = client.session(this.#id);
    const watch = session.watch({ from: initial });
    const { approve, deny, respond } = session;
    const { loadEarlier, retry } = watch;
    this.#watch = watch;
    this.#actions = {
      send: (...args) => {
        const run = session.send(...args);
        const over = () => {
          if (this.#sent === run) this.#sent = undefined;
        };
        this.#sent = run;
        run.result.then(over, over);
        return run;
      },
      abort: async (options) => {
        const { run, queue } = this.#current();
        const runId = options?.runId ?? (run ?? queue[0])?.runId;
        if (runId) return session.abort({ ...options, runId });
        return (await this.#sent?.abort(options?.reason)) ?? { aborted: false };
      },
      approve,
      deny,
      respond,
      loadEarlier,
      retry,
    };
    this.#state = watch.getServerSnapshot();
    this.#view = this.#first = { ...this.#state, ...this.#actions };
  }

  readonly getSnapshot = (): SessionView => {
    const store = this.#present();
    store.#current();
    return store.#view;
  };

  readonly getServerSnapshot = (): SessionView => this.#first;

  readonly subscribe = (listener: () => void): (() => void) => {
    const store = this.#present();
    const stop = store.#listeners.subscribe(listener);
    store.#start();
    return () => {
      stop();
      if (store.#listeners.isEmpty()) store.#leave();
    };
  };

  #present(): SessionStore {
    return this.#all.get(this.#id) ?? this;
  }

  /** What is shown; while a frame is waited for that is what was shown before. */
  #current(): WatchState {
    const state = this.#cancelFrame ? this.#state : this.#watch.getSnapshot();
    if (state !== this.#state) {
      this.#state = state;
      this.#view = { ...state, ...this.#actions };
    }
    return state;
  }

  #start(): void {
    if (this.#stop) return;
    this.#all.set(this.#id, this);
    this.#stop = this.#watch.subscribe((change) => this.#changed(change));
  }

  #leave(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    if (this.#all.get(this.#id) === this) this.#all.delete(this.#id);
  }

  #changed(change: WatchChange): void {
    const show = () => {
      this.#cancelFrame?.();
      this.#cancelFrame = undefined;
      const state = this.#watch.getSnapshot();
      if (state === this.#told) return;
      this.#told = state;
      this.#listeners.emit();
    };
    if (change === 'delta') this.#cancelFrame ??= onNextFrame(show);
    else show();
  }
}

/** Calls back before the next frame is drawn. A hidden page draws none. */
function onNextFrame(run: () => void): () => void {
  if (typeof requestAnimationFrame === 'function' && !isHidden()) {
    const frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  }
  const timer = quietTimer(FRAME_MS, run);
  return () => clearTimeout(timer);
}
