import type { SessionRef } from './store.js';

/** Where a record lives: with a session, or with a scope alone. It goes when that is dropped. */
export type RecordHome = SessionRef | { readonly scope: string; readonly app?: never; readonly name?: never };

/** A typed row beside the logs. */
export interface StoredRecord {
  readonly home: RecordHome;
  readonly kind: string;
  /** Its own among those of its kind in its home. */
  readonly id: string;
  /** Whose it is, in words of its kind: records are found by it in all homes. */
  readonly owner?: string;
  /** When it is due, in milliseconds since the epoch by the store's clock. */
  readonly dueAt?: number;
  /** JSON. */
  readonly value: string;
  /** Another one, and a higher one, each time it is put or taken: a change may ask for the one that it has seen. */
  readonly token: number;
}

/** The name of a record within its home. */
export type RecordName = Pick<StoredRecord, 'kind' | 'id'>;

/** A record that is put as a whole, or dropped. */
export interface RecordChange extends RecordName {
  readonly owner?: string | undefined;
  readonly dueAt?: number | undefined;
  /** JSON; absent drops the record. */
  readonly value?: string | undefined;
  /**
   * The change is made only to the record of this token; 0: only where there is none. Where that is not so, nothing of all that goes
   * with it is written. @default whatever there is
   */
  readonly token?: number | undefined;
}

/** Which records are listed: those of a home by kind and id (what of an id is not ASCII in an order of the store's), those of an owner in an order of the store's. */
export type RecordQuery = { readonly limit: number } & (
  | {
      readonly home: RecordHome;
      /** @default all of them */
      readonly kind?: string;
      /** The last one of the page before. */
      readonly after?: RecordName;
    }
  | {
      readonly owner: string;
      readonly kind: string;
      /** The last one of the page before. */
      readonly after?: Pick<StoredRecord, 'home' | 'id'>;
    }
);

/** How records are changed. */
export interface ChangeOptions {
  /** Whether a loss of power may forget it, as it may what was taken: whoever does it does it again then. @default false */
  readonly mayRepeat?: boolean;
}

/** How what is due is taken. */
export interface TakeOptions {
  readonly limit: number;
  /** It is due again after so many milliseconds, by the store's clock, unless it is put or dropped before. */
  readonly leaseMs: number;
  /** Taken as if it were so many milliseconds later: a gateway whose clock is turned by hand. @default 0 */
  readonly aheadMs?: number;
}

/** What was due. */
export interface Taken {
  /** The one that was due first is the first; `dueAt` is when it was due before it was taken. */
  readonly records: readonly StoredRecord[];
  /** When the next one is due, by the store's clock, in milliseconds since the epoch; null where there is none. */
  readonly nextAt: number | null;
  /** The time by the store's clock, and by how much it was to be ahead, in milliseconds since the epoch. */
  readonly now: number;
}

/** Tokens of a store that one process uses: none is given twice while it is open, not even to a record that was dropped and put again. */
export class Tokens {
  #last = 0;

  after(former: number): number {
    this.#last = Math.max(former + 1, this.#last + 1, Date.now() * 1000);
    return this.#last;
  }
}

/** The name of a home as text: JSON, so it has no line breaks. */
export const textOfHome = ({ scope, app, name }: RecordHome): string =>
  JSON.stringify(app === undefined ? [scope] : [scope, app, name]);

/** The same, read. */
export function homeOf(text: string): RecordHome {
  const [scope, app, name] = JSON.parse(text) as [string, string?, string?];
  return app === undefined || name === undefined ? { scope } : { scope, app, name };
}

/** A record without what it has not. */
export function recordWith(
  named: Pick<StoredRecord, 'home' | 'kind' | 'id' | 'value' | 'token'>,
  owner: string | null | undefined,
  dueAt: number | null | undefined,
): StoredRecord {
  return { ...named, ...(owner != null && { owner }), ...(dueAt != null && { dueAt }) };
}
