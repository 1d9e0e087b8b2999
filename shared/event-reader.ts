import { type GatewayEvent, isDelta } from './events.js';

/** The parts of a followed log's last event that the wire does not repeat. */
interface LastEvent {
  readonly sessionId: string;
  readonly epoch: string;
  runId?: string | undefined;
  index: number;
}

interface Read {
  type: string;
  sessionId?: string;
  cursor?: string;
  runId?: string;
  index?: number;
  sessions?: Readonly<Record<string, { readonly cursor?: string }>>;
}

/**
 * Reads the events of one stream or socket, and fills in the fields that the wire does not repeat: the cursor, which is in the id, and those that a
 * delta shares with the delta before it.
 *
 * @example
 * ```ts
 * const reader = new EventReader();
 * const socket = new WebSocket('wss://example.com/agent/ws');
 * socket.onmessage = (message) => {
 *   const frame = JSON.parse(message.data);
 *   if (frame.event) console.log(reader.read(frame.event, frame.data, frame.id));
 * };
 * ```
 */
export class EventReader {
  readonly #bySession = new Map<string, LastEvent>();
  readonly #byEpoch = new Map<string, LastEvent>();

  /**
   * The whole event: the data itself, completed, unless it is frozen.
   *
   * @param type The `event:` line, or the frame's field `event`.
   * @param data The JSON value of the `data:` line or of the field `data`.
   * @param id The `id:` line, or the frame's field `id`, if the event has one.
   */
  read(type: string, data: unknown, id?: string): GatewayEvent {
    // Completed in place: a copy of each piece of text would cost more than all else here.
    const event: Read = Object.isExtensible(data) ? (data as Read) : { ...(data as Read) };
    event.type = type;
    // A vector cursor is not the id of an event.
    if (id && id[0] !== '~') event.cursor ??= id;
    const { sessionId, cursor, sessions } = event;
    for (const key in sessions) this.#follow(key, sessions[key]!.cursor);
    const log =
      sessionId === undefined ? this.#byEpoch.get(epochOf(cursor) ?? '') : this.#follow(sessionId, cursor);
    if (!log) return event as GatewayEvent;
    if (isDelta(event as { readonly type: string })) {
      event.sessionId = log.sessionId;
      log.runId = event.runId ??= log.runId!;
      log.index = event.index ??= log.index;
    } else if (type === 'message_start') {
      log.runId = event.runId;
      log.index = 0;
    }
    return event as GatewayEvent;
  }

  #follow(sessionId: string, cursor: string | undefined): LastEvent | undefined {
    const known = this.#bySession.get(sessionId);
    const epoch = epochOf(cursor);
    if (!epoch || known?.epoch === epoch) return known;
    if (known) this.#byEpoch.delete(known.epoch);
    const log: LastEvent = { sessionId, epoch, index: 0 };
    this.#bySession.set(sessionId, log);
    this.#byEpoch.set(epoch, log);
    return log;
  }
}

function epochOf(cursor: string | undefined): string | undefined {
  return cursor?.slice(0, Math.max(cursor.indexOf('.'), 0)) || cursor;
}
