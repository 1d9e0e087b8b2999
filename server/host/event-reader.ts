import type { GatewayEvent } from '../../shared/events.js';
import type { Person } from '../auth/types.js';
import type { EventConnection, Sink } from '../delivery/connection.js';
import type { Connections } from '../delivery/connections.js';
import { objectForm } from '../delivery/wire-form.js';
import { newConnectionId } from '../ids.js';

/** Most events buffered for a reader in this process before it has to catch up from the store. */
const BUFFER = 256;

/** The parts of a gateway that a reader in this process uses. */
export interface ReaderEnvironment {
  readonly connections: Connections;
  readonly heartbeatMs: number;
}

/**
 * Reads events in this process, with the same delivery as for clients: a reader that lags behind is a cursor, not a queue.
 *
 * @param follow Subscribes the connection; `ended` ends the stream.
 */
export async function* readEvents(
  env: ReaderEnvironment,
  person: Person,
  options: { readonly signal?: AbortSignal | undefined },
  follow: (connection: EventConnection, ended: () => void) => Promise<void>,
): AsyncGenerator<GatewayEvent, void, undefined> {
  const { signal } = options;
  if (signal?.aborted) return;
  const queue = new EventQueue();
  const connection = env.connections.add({
    id: newConnectionId(),
    transport: 'host',
    person,
    form: objectForm,
    sink: queue,
    heartbeatMs: env.heartbeatMs,
    slowClientMs: Number.POSITIVE_INFINITY,
    client: false,
  });
  const end = (): void => queue.finish();
  signal?.addEventListener('abort', end, { once: true });
  try {
    await follow(connection, end);
    for (;;) {
      const event = queue.shift();
      if (event) {
        if (event.type !== 'heartbeat' && event.type !== 'connected') yield event;
        if (signal?.aborted) return;
      } else if (queue.finished) return;
      else {
        connection.drained();
        if (queue.empty) await queue.more();
      }
    }
  } finally {
    signal?.removeEventListener('abort', end);
    connection.gone(queue.finished && !signal?.aborted ? 'done' : 'left');
  }
}

class EventQueue implements Sink {
  #events: GatewayEvent[] = [];
  #at = 0;
  #wake: (() => void) | null = null;
  finished = false;

  get empty(): boolean {
    return this.#at === this.#events.length && !this.finished;
  }

  write(payload: unknown): boolean {
    this.#events.push(...(payload as readonly GatewayEvent[]));
    this.#notify();
    return this.#events.length - this.#at < BUFFER;
  }

  sent(): number {
    return this.#at;
  }

  /** A reader in this process has waiting objects, and no bytes. */
  unread(): number {
    return 0;
  }

  end(): void {
    this.finish();
  }

  finish(): void {
    this.finished = true;
    this.#notify();
  }

  shift(): GatewayEvent | undefined {
    const event = this.#events[this.#at];
    if (event) this.#at += 1;
    else if (this.#at > 0) {
      this.#events = [];
      this.#at = 0;
    }
    return event;
  }

  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = null;
  }
}
