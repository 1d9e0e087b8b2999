import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { unavailable } from '../log/unavailable.js';
import type { Store } from '../stores/store.js';
import type { SessionRef, StoredSize } from '../stores/stored.js';
import type { Quotas } from './quotas.js';

/** Sessions whose size is remembered. Beyond this number all are forgotten and asked for anew. */
const SESSIONS = 10_000;

/**
 * Checks whether a session and its scope have room for more. With an asynchronous store it uses the size of the last check, and asks again
 * for the next one, so that a message is neither delayed nor overtaken.
 */
export class SessionRoom {
  readonly #store: Store;
  readonly #quotas: Quotas;
  readonly #known = new Map<string, StoredSize>();

  constructor(store: Store, quotas: Quotas) {
    this.#store = store;
    this.#quotas = quotas;
  }

  /**
   * @param isGranted Whether the caller came by a grant, and so may fill but a part
   * @throws GatewayError `QUOTA_EXCEEDED`; `OVERLOADED` when the store cannot tell
   */
  check(ref: SessionRef, isGranted = false): MaybePromise<void> {
    const failed = (error: unknown): never => {
      throw unavailable(error);
    };
    let answer: MaybePromise<StoredSize>;
    try {
      answer = this.#store.usage(ref);
    } catch (error) {
      return failed(error);
    }
    if (!isPromise(answer)) return this.#quotas.checkRoom(ref.scope, answer, isGranted);
    const key = `${ref.scope}\n${ref.app}:${ref.name}`;
    const asked = answer.then((size) => {
      if (this.#known.size >= SESSIONS) this.#known.clear();
      this.#known.set(key, size);
      return size;
    });
    const known = this.#known.get(key);
    if (!known) return asked.then((size) => this.#quotas.checkRoom(ref.scope, size, isGranted), failed);
    // The append of the message meets the same store, and reports its failure.
    asked.catch(() => {});
    return this.#quotas.checkRoom(ref.scope, known, isGranted);
  }
}
