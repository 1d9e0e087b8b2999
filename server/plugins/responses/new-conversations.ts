import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Identity } from '../../auth/types.js';
import type { PluginNotes } from '../plugin.js';
import { digest } from './places.js';

const MAX_KEPT = 10_000;

/** What a conversation was created with. */
export interface NewConversation {
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Where conversations are known in which nothing was said: a session begins with its first message. Each is known to who created it. */
export interface ConversationDesk {
  add(id: string, identity: Identity, created: NewConversation): MaybePromise<void>;
  get(id: string, identity: Identity): MaybePromise<NewConversation | undefined>;
  /** Takes it out: it begins, or is deleted. */
  take(id: string, identity: Identity): MaybePromise<NewConversation | undefined>;
}

/** How long other gateways know of one, in milliseconds. */
const KEPT_MS = 24 * 3_600_000;

/** Those that were created at any of the gateways on a store, within a day. */
export class SharedNewConversations implements ConversationDesk {
  readonly #notes: PluginNotes;

  constructor(notes: PluginNotes) {
    this.#notes = notes;
  }

  async add(id: string, identity: Identity, created: NewConversation): Promise<void> {
    await this.#notes.put(noteOf(id, identity), JSON.stringify(created), { ttlMs: KEPT_MS });
  }

  async get(id: string, identity: Identity): Promise<NewConversation | undefined> {
    const note = await this.#notes.get(noteOf(id, identity));
    return note === null ? undefined : (JSON.parse(note) as NewConversation);
  }

  async take(id: string, identity: Identity): Promise<NewConversation | undefined> {
    const created = await this.get(id, identity);
    if (created) await this.#notes.drop(noteOf(id, identity));
    return created;
  }
}

const noteOf = (id: string, identity: Identity): string => `conversation:${digest(placeOf(id, identity))}`;

/** Those that were created in this process. */
export class NewConversations implements ConversationDesk {
  readonly #created = new Map<string, NewConversation>();

  add(id: string, identity: Identity, created: NewConversation): void {
    const [oldest] = this.#created.keys();
    if (oldest !== undefined && this.#created.size >= MAX_KEPT) this.#created.delete(oldest);
    this.#created.set(placeOf(id, identity), created);
  }

  get(id: string, identity: Identity): NewConversation | undefined {
    return this.#created.get(placeOf(id, identity));
  }

  take(id: string, identity: Identity): NewConversation | undefined {
    const created = this.get(id, identity);
    this.#created.delete(placeOf(id, identity));
    return created;
  }
}

function placeOf(id: string, { scope, userKey }: Identity): string {
  return `${scope}\n${userKey}\n${id}`;
}
