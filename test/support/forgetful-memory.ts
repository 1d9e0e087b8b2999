import type { EventRecord } from '../../server/stores/append.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { Store } from '../../server/stores/store.js';
import type { SessionRef } from '../../server/stores/stored.js';

/** A call that changed what is kept. */
interface Change {
  readonly member: 'acquire' | 'append' | 'cut' | 'remove' | 'expire';
  /** Of the session, where it is of one. */
  readonly key: string;
  readonly again: (store: Store) => void;
}

/** A store in memory that can lose the last that it took, as an engine does whose machine loses power. */
export class ForgetfulMemory {
  #inner = memoryStore();
  readonly #changes: Change[] = [];
  /** Always the store as it is now. */
  readonly store: Store = new Proxy(this.#inner, {
    get: (_, name: keyof Store) => {
      const member = this.#inner[name];
      if (typeof member !== 'function') return member;
      return (...args: never[]) => this.#call(name, args);
    },
  });

  #call(name: keyof Store, args: never[]): unknown {
    const call = (store: Store, given: unknown[]): unknown =>
      (store[name] as (...all: unknown[]) => unknown).apply(store, given);
    if (!['acquire', 'append', 'cut', 'remove', 'expire'].includes(name)) return call(this.#inner, args);
    const [ref, records] = args as unknown as [SessionRef | number, readonly EventRecord[]];
    // The store numbers the records that it is given.
    const copied = (): unknown[] =>
      name === 'append' ? [ref, records.map((record) => ({ ...record })), args[2]] : args;
    const again = copied();
    const answer = call(this.#inner, args);
    this.#changes.push({
      member: name as Change['member'],
      key: typeof ref === 'number' ? '' : keyOf(ref),
      again: (store) => call(store, again),
    });
    return answer;
  }

  /** Forgets the last batches of a session, those of its present writer at most. @returns How many it was */
  forget(name: string, batches: number): number {
    const dropped = new Set<Change>();
    for (const change of [...this.#changes].reverse()) {
      if (!change.key.endsWith(`:${name}`)) continue;
      if (change.member !== 'append' || dropped.size === batches) break;
      dropped.add(change);
    }
    const kept = this.#changes.filter((change) => !dropped.has(change));
    this.#changes.splice(0, this.#changes.length);
    this.#inner = memoryStore();
    for (const change of kept) {
      try {
        change.again(this.#inner);
      } catch {
        // It was refused then, too.
      }
      this.#changes.push(change);
    }
    return dropped.size;
  }
}

export const keyOf = ({ scope, app, name }: SessionRef): string => `${scope}\n${app}:${name}`;
