import { composeId } from '../../../shared/composed-id.js';
import type { McpLimits } from './options.js';
import type { EventStore, JSONRPCMessage, RequestId } from './sdk.js';

interface BufferedEvent {
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

/** Stands for the answer that a cancelled request never gets. The transport needs one to forget the request; no client is told it. */
export class NoAnswer {
  readonly jsonrpc = '2.0';
  readonly id: RequestId;
  readonly error = { code: 0, message: 'Cancelled' };

  constructor(id: RequestId) {
    this.id = id;
  }
}

/** The last messages of one client session, for streams that its client resumes. A client that asks for a dropped message is told so. */
export class ReplayBuffer implements EventStore {
  readonly #limits: Pick<McpLimits, 'replayMessages' | 'replaySize'>;
  readonly #kept = new Map<string, BufferedEvent>();
  readonly #holder: string;
  #size = 0;
  #last = 0;

  /** @param holder This gateway. Others number messages for the same client too */
  constructor(limits: Pick<McpLimits, 'replayMessages' | 'replaySize'>, holder: string) {
    this.#limits = limits;
    this.#holder = holder;
  }

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    if (message instanceof NoAnswer) {
      this.#forget(streamId);
      return '';
    }
    this.#last += 1;
    const id = composeId(this.#last, this.#holder);
    const size = roughSize(message);
    this.#kept.set(id, { streamId, message, size });
    this.#size += size;
    this.#cut();
    return id;
  }

  /** A stream that ended without any answer is not resumed: its client would come back for ever. */
  #forget(streamId: string): void {
    const ids: string[] = [];
    for (const [id, kept] of this.#kept) {
      if (kept.streamId !== streamId) continue;
      if ('result' in kept.message || 'error' in kept.message) return;
      ids.push(id);
    }
    for (const id of ids) this.#drop(id);
  }

  #drop(id: string): void {
    this.#size -= this.#kept.get(id)!.size;
    this.#kept.delete(id);
  }

  #cut(): void {
    const { replayMessages, replaySize } = this.#limits;
    for (const id of this.#kept.keys()) {
      const fits = this.#kept.size <= replayMessages && this.#size <= replaySize;
      if (fits || this.#kept.size === 1) return;
      this.#drop(id);
    }
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#kept.get(id)?.streamId;
  }

  async replayEventsAfter(
    lastId: string,
    { send }: Parameters<EventStore['replayEventsAfter']>[1],
  ): Promise<string> {
    const streamId = this.#kept.get(lastId)?.streamId ?? '';
    for (const [id, kept] of this.#kept)
      if (kept.streamId === streamId && numberOf(id) > numberOf(lastId)) await send(id, kept.message);
    return streamId;
  }
}

/** The place of a message in a session's order. */
function numberOf(id: string): number {
  return Number.parseInt(id, 10);
}

/** About the length of a message's JSON, without writing it. */
function roughSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 16;
  for (const field of Object.values(value)) size += roughSize(field);
  return size;
}
