import { type EventOf, type GatewayEvent, isDelta } from '../../shared/events.js';
import { reduce, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { type Delta, JoinedDelta } from './joined-delta.js';
import { withVersions } from './versions.js';

/** Most deltas that are joined before they are folded. */
const GATHERED = 64;

const NONE: ReadonlyMap<string, Message> = new Map();

/** A fold that joins consecutive deltas into one step. It keeps messages that a move took off the path. */
export class LazyFold {
  #state: SessionState;
  #aside: Map<string, Message> | null = null;
  /** Number of moves of the path. */
  moves = 0;
  /**
   * Id of the oldest message that every reader has who has read up to here, wherever it began; absent if every reader has the whole path. A
   * move may take a reader behind its first message, so only the messages that the move names are certain.
   */
  sureFrom: string | undefined;
  /** Ids of messages that got reactions or a summary since rows were last written. */
  readonly changed = new Set<string>();
  /** The deltas that are not folded yet. */
  readonly #delta = new JoinedDelta({ pieces: GATHERED });

  constructor(state: SessionState) {
    this.#state = state;
    this.sureFrom = state.tip ?? undefined;
  }

  add(event: GatewayEvent): void {
    if (isDelta(event)) {
      this.#fold(this.#delta.push(event));
      return;
    }
    this.#fold(this.#delta.take());
    if (event.type === 'history_moved') this.#move(event);
    else {
      if (event.type === 'reaction' || event.type === 'compacted' || event.type === 'message_replaced')
        this.changed.add(event.messageId);
      this.#state = reduce(this.#state, event);
      if (event.type === 'message_replaced' && this.#aside) this.#replaceAside(this.#aside, event);
    }
  }

  #replaceAside(aside: Map<string, Message>, event: EventOf<'message_replaced'>): void {
    for (const [id, message] of aside)
      aside.set(id, reduce({ ...this.#state, messages: [message] }, event).messages[0]!);
  }

  #move(event: EventOf<'history_moved'>): void {
    const before = this.#state.messages;
    this.moves += 1;
    this.sureFrom = event.messages?.[0]?.id ?? event.tip ?? undefined;
    this.#state = reduce(this.#state, event);
    const shown = new Set(this.#state.messages.map(({ id }) => id));
    this.#aside ??= new Map();
    for (const id of shown) this.#aside.delete(id);
    for (const message of before) if (!shown.has(message.id)) this.#aside.set(message.id, message);
  }

  /** Folded messages that are not on the path, by id. */
  get aside(): ReadonlyMap<string, Message> {
    return this.#aside ?? NONE;
  }

  /** Forgets messages off the path that are stored elsewhere. */
  forgetAside(messages: readonly Message[]): void {
    const aside = this.#aside;
    if (!aside) return;
    for (const { id } of messages) aside.delete(id);
    // A message that stays may predate those versions of it, and nothing else here names them any more.
    for (const message of withVersions([...aside.values()], messages)) aside.set(message.id, message);
  }

  get state(): SessionState {
    this.#fold(this.#delta.take());
    return this.#state;
  }

  set state(state: SessionState) {
    this.#delta.take();
    this.#state = state;
  }

  #fold(delta: Delta | null): void {
    if (delta) this.#state = reduce(this.#state, delta as GatewayEvent);
  }
}
