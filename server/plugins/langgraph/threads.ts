import { formatHistoryCursor, parseCursor } from '../../../shared/cursor.js';
import { GatewayError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import type { ImportedMessage } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import { nameIn } from '../conversation/app-names.js';
import { pagesOf, stateOf } from '../conversation/state.js';
import type { PluginContext, PluginSession } from '../plugin.js';

/** A session, with the name that a client gives it. */
export interface Thread {
  readonly id: string;
  readonly app: string;
  readonly session: PluginSession;
  /** The session's present state, with its last messages. */
  readonly state: SessionState;
}

/** The largest number of messages in a thread's state, since each `values` repeats them all. */
const MOST = 1000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The threads of a caller. A thread's id is a session's key. If it names no app, the session may belong to any, the default one first. */
export class Threads {
  readonly #context: PluginContext;

  constructor(context: PluginContext) {
    this.#context = context;
  }

  /** The thread of an id; null if no session has begun under it. @throws GatewayError */
  async find(person: Person, id: string): Promise<Thread | null> {
    for (const app of id.includes(':') ? [null] : await this.#apps(person)) {
      const session = this.#context.session(app === null ? id : `${app}:${id}`, person);
      const state = await stateOf(session);
      if (state) return { id, app: app ?? id.slice(0, id.indexOf(':')), session, state };
    }
    return null;
  }

  /** @throws GatewayError `SESSION_NOT_FOUND` */
  async get(person: Person, id: string): Promise<Thread> {
    const thread = await this.find(person, id);
    if (!thread) throw new GatewayError({ code: 'SESSION_NOT_FOUND', message: `There is no thread ${id}` });
    return thread;
  }

  /**
   * The thread of an id, for a run of an app. A thread was created for no app: as long as nothing was said in it, it becomes the thread of
   * the app that first runs in it.
   */
  async forRun(person: Person, id: string, app: string | undefined): Promise<Thread | null> {
    const thread = await this.find(person, id);
    if (!thread || app === undefined || app === thread.app || id.includes(':')) return thread;
    const { messageCount, run, queue, metadata } = thread.state;
    if (messageCount > 0 || run || queue.length > 0) return thread;
    await this.begin(person, id, { app, metadata });
    await thread.session.delete();
    return this.find(person, id);
  }

  /** Begins the session of a thread in which no run was yet. @throws GatewayError `SESSION_EXISTS` */
  async begin(
    person: Person,
    id: string,
    given: {
      readonly app: string | undefined;
      readonly metadata: SessionState['metadata'];
      readonly messages?: readonly ImportedMessage[];
    },
  ): Promise<void> {
    const { app, metadata = {}, messages = [] } = given;
    await this.open(person, id, app).import(messages, { metadata });
  }

  /** The session of an id, begun or not. @param app The app of a session that has not begun. @default the default one */
  open(person: Person, id: string, app?: string): PluginSession {
    return this.#context.session(app === undefined || id.includes(':') ? id : `${app}:${id}`, person);
  }

  async #apps(person: Person): Promise<string[]> {
    const apps = await this.#context.appsOf(person);
    return [...apps].sort((a, b) => Number(b.isDefault) - Number(a.isDefault)).map(({ name }) => name);
  }
}

/** The client's name of a session. One that a page began by a UUID needs no app in it. */
export function threadIdOf(sessionId: string): string {
  const name = nameIn(sessionId);
  return UUID.test(name) ? name : sessionId;
}

/** A thread with the messages of its path, or the last of them if there are too many. Reads the whole conversation, so not for every request. */
export async function whole(thread: Thread): Promise<Thread> {
  const { session, state } = thread;
  const place = state.cursor === null ? null : parseCursor(state.cursor);
  const [first] = state.messages;
  if (!state.hasMore || !place || !first) return thread;
  const pages = pagesOf(session, { before: formatHistoryCursor(place.epoch, first.id) });
  const messages = [...state.messages];
  for await (const page of pages) messages.unshift(...page.messages);
  return { ...thread, state: { ...state, messages: messages.slice(-MOST) } };
}
