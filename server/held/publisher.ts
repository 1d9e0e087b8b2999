import type { EventDraft, SessionChanges } from '../../shared/events.js';
import { storeTime } from '../stores/skew.js';
import type { HeldSession } from './held-session.js';
import { checkChanges, fittingTitle, updateDrafts } from './session-changes.js';

/** Kind of the records of work that other gateways asked for, and may ask for again. */
export const DONE = 'done';
/** Time for which it is known that such work was done, in milliseconds: many times as long as anybody repeats a request. */
const REMEMBERED_MS = 5 * 60_000;

/** Publishes messages and emits custom events outside the run queue. */
export class Publisher {
  readonly #held: HeldSession;

  constructor(held: HeldSession) {
    this.#held = held;
  }

  /** @throws GatewayError `INVALID_PARAMS` if the payload does not fit the channel. */
  publish(channel: string, type: string, payload: unknown, runId?: string): void {
    this.#held.env.checkPayload('channels', channel, payload);
    const event = { type, payload };
    this.#held.log.append({ type: 'channel', runId, ts: Date.now(), channel, event });
  }

  /**
   * Publishes a message and waits until it is stored.
   *
   * @param once Name of the message. A message of the same name is stored once
   * @throws GatewayError also `OVERLOADED`
   */
  async publishStored(channel: string, type: string, payload: unknown, once?: string): Promise<void> {
    this.#held.env.checkPayload('channels', channel, payload);
    const draft = { type: 'channel', ts: Date.now(), channel, event: { type, payload } } as const;
    await this.#store(draft, once);
  }

  /** Changes the title, metadata or archived mark of the session. @throws GatewayError `INVALID_PARAMS`, `PAYLOAD_TOO_LARGE`; `OVERLOADED` */
  async update(changes: SessionChanges, by: string): Promise<void> {
    checkChanges(changes, this.#held.env.limits);
    await this.#held.log.commit((state) => updateDrafts(state, changes, { by }), { refusable: true });
  }

  /** Gives the session a title, cut to the longest allowed: a model may have written it. */
  title(text: string, runId: string): void {
    const title = fittingTitle(text, this.#held.env.limits.titleLength);
    if (title === '') return;
    const stored = this.#held.log.commit((state) =>
      // Nothing of a run may follow its end.
      state.run?.runId === runId ? updateDrafts(state, { title }, { runId }) : [],
    );
    // The owner of the log hears of failed writes.
    stored.catch(() => {});
  }

  /** @throws GatewayError `INVALID_PARAMS` if the payload does not fit the event. */
  emit(name: string, payload: unknown, runId?: string): void {
    this.#held.env.checkPayload('events', name, payload);
    this.#held.log.append({ type: 'custom', runId, ts: Date.now(), name, payload });
    this.#held.env.notify({ type: 'custom', sessionId: this.#held.id, name, payload });
  }

  /** Emits a stored event, once under the name `once`. @throws GatewayError also `OVERLOADED` */
  async emitStored(name: string, payload: unknown, once: string): Promise<void> {
    this.#held.env.checkPayload('events', name, payload);
    const draft = { type: 'custom', ts: Date.now(), name, payload } as const;
    if (!(await this.#store(draft, once))) return;
    this.#held.env.notify({ type: 'custom', sessionId: this.#held.id, name, payload });
  }

  /** Stores an event, once under a name. Returns whether it was new. */
  async #store(draft: EventDraft, once: string | undefined): Promise<boolean> {
    const { log, store } = this.#held;
    const dueAt = storeTime(store) + REMEMBERED_MS;
    const done = once === undefined ? [] : [{ kind: DONE, id: once, dueAt, value: 'true', token: 0 }];
    return !(await log.commit([draft], { refusable: true, records: done })).stale;
  }
}
