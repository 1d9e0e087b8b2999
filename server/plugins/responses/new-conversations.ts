import type { Identity } from '../../auth/types.js';
import type { PluginNotes } from '../plugin.js';
import { digest } from './places.js';

/** What a conversation was created with. */
export interface NewConversation {
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** How long one is known, in milliseconds. */
const KEPT_MS = 24 * 3_600_000;

/** Conversations in which nothing was said: a session begins with its first message. Each is known to who created it. */
export class NewConversations {
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

  /** Takes it out: it begins, or is deleted. */
  async take(id: string, identity: Identity): Promise<NewConversation | undefined> {
    const created = await this.get(id, identity);
    if (created) await this.#notes.drop(noteOf(id, identity));
    return created;
  }
}

function noteOf(id: string, { scope, userKey }: Identity): string {
  return `conversation:${digest(`${scope}\n${userKey}\n${id}`)}`;
}
