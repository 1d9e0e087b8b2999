import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { unavailable } from '../log/unavailable.js';
import type { SessionRef, Store, StoredSize } from '../stores/store.js';
import type { Quotas } from './quotas.js';

/** Sessions whose size is remembered; beyond it all are asked about anew. */
const SESSIONS = 10_000;

/**
 * Whether there is room for more in a session and its scope. Of a store that answers by promise the answer before is used, while it is
 * asked again for the next time: a message is neither slower for it nor overtaken.
 */
export class Room {
  readonly #store: Store;
  readonly #quotas: Quotas;
  readonly #known = new Map<string, StoredSize>();

  constructor(store: Store, quotas: Quotas) {
    this.#store = store;
    this.#quotas = quotas;
  }

  /** @throws GatewayError `QUOTA_EXCEEDED`; `OVERLOADED` when the store cannot tell */
  check(ref: SessionRef): MaybePromise<void> {
    const failed = (error: unknown): never => {
      throw unavailable(error);
    };
    let answer: MaybePromise<StoredSize>;
    try {
      answer = this.#store.usage(ref);
    } catch (error) {
      return failed(error);
    }
    if (!isPromise(answer)) return this.#quotas.checkRoom(ref.scope, answer);
    const key = `${ref.scope}\n${ref.app}:${ref.name}`;
    const asked = answer.then((size) => {
      if (this.#known.size >= SESSIONS) this.#known.clear();
      this.#known.set(key, size);
      return size;
    });
    const known = this.#known.get(key);
    if (!known) return asked.then((size) => this.#quotas.checkRoom(ref.scope, size), failed);
    // The message itself meets the same store, and its failure.
    asked.catch(() => {});
    return this.#quotas.checkRoom(ref.scope, known);
  }
}
