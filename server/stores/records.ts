import type { SessionRef } from './stored.js';

/** The home of a record: a session, or a scope alone. Dropping the home drops its records. */
export type RecordHome = SessionRef | { readonly scope: string; readonly app?: never; readonly name?: never };

/** A typed row beside the logs. */
export interface StoredRecord {
  readonly home: RecordHome;
  readonly kind: string;
  /** Unique among the records of the same kind and home. */
  readonly id: string;
  /** A key that finds records of one kind across all homes. Each kind defines its own owners. */
  readonly owner?: string;
  /** The due time, in milliseconds since the epoch by the store's clock. */
  readonly dueAt?: number;
  /** JSON. */
  readonly value: string;
  /** Rises each time the record is put or taken. A change may require the token that its author saw. */
  readonly token: number;
}

/** Whether changes put a record into a session. A session without a log takes none, so that nothing comes back after its erasure. */
export const putsInSession = (home: RecordHome, changes: readonly RecordChange[]): home is SessionRef =>
  home.app !== undefined && changes.some(({ value }) => value !== undefined);

/** The name of a record within its home. */
export type RecordName = Pick<StoredRecord, 'kind' | 'id'>;

/** Puts a whole record, or drops it. */
export interface RecordChange extends RecordName {
  readonly owner?: string | undefined;
  readonly dueAt?: number | undefined;
  /** JSON; absent drops the record. */
  readonly value?: string | undefined;
  /**
   * The token that the record must have; 0 if there must be no record. If the record differs, nothing of the append or call is written.
   * @default no condition
   */
  readonly token?: number | undefined;
}

/**
 * Selects one record of a home, or all of it sorted by kind and id, or those of an owner in any order. The store decides the order of ids
 * beyond ASCII.
 */
export type RecordQuery = { readonly limit: number } & (
  | ({ readonly home: RecordHome; readonly after?: never } & RecordName)
  | {
      readonly home: RecordHome;
      /** @default every kind */
      readonly kind?: string;
      readonly id?: never;
      /** The last record of the previous page. */
      readonly after?: RecordName;
    }
  | {
      readonly owner: string;
      readonly kind: string;
      readonly id?: never;
      /** The last record of the previous page. */
      readonly after?: Pick<StoredRecord, 'home' | 'id'>;
    }
);

/** Options of `changeRecords`. */
export interface ChangeOptions {
  /** Whether a loss of power may undo the change, as it may undo `takeDue`. The author then makes the change again. @default false */
  readonly mayRepeat?: boolean;
}

/** Options of `takeDue`. */
export interface TakeOptions {
  readonly limit: number;
  /** Milliseconds by the store's clock until a taken record is due again, unless it is put or dropped before. */
  readonly leaseMs: number;
  /** Milliseconds to add to the store's clock, for a gateway whose clock tests turn by hand. @default 0 */
  readonly aheadMs?: number;
}

/** The records that were due. */
export interface Taken {
  /** The earliest due is first. `dueAt` is the due time before the record was taken. */
  readonly records: readonly StoredRecord[];
  /** The due time of the next record, in milliseconds since the epoch by the store's clock; null if there is none. */
  readonly nextAt: number | null;
  /** The time by the store's clock plus `aheadMs`, in milliseconds since the epoch. */
  readonly now: number;
}

/** Makes the tokens of a store for one process. No token repeats while the store is open, not even for a record that was dropped and put again. */
export class Tokens {
  #last = 0;

  after(former: number): number {
    this.#last = Math.max(former + 1, this.#last + 1, Date.now() * 1000);
    return this.#last;
  }
}

/** A home as text: JSON, so that it has no line breaks. */
export const textOfHome = ({ scope, app, name }: RecordHome): string =>
  JSON.stringify(app === undefined ? [scope] : [scope, app, name]);

/** The home that `textOfHome` wrote. */
export function homeOf(text: string): RecordHome {
  const [scope, app, name] = JSON.parse(text) as [string, string?, string?];
  return app === undefined || name === undefined ? { scope } : { scope, app, name };
}

/** A record without the optional fields that are undefined. */
export function recordWith(
  named: Pick<StoredRecord, 'home' | 'kind' | 'id' | 'value' | 'token'>,
  owner: string | null | undefined,
  dueAt: number | null | undefined,
): StoredRecord {
  return { ...named, ...(owner != null && { owner }), ...(dueAt != null && { dueAt }) };
}
