import type * as z from 'zod';
import type { EventDraft } from '../../shared/events.js';
import { LimitError } from '../limit-error.js';
import { asUnavailable } from '../log/unavailable.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';

/** Most records of one kind that are read of one home. */
const MOST = 10_000;

/** A record as its kind reads it. */
export interface Kept<Value> {
  readonly home: RecordHome;
  readonly id: string;
  readonly token: number;
  readonly value: Value;
  /** The conversation in which it was put, if it ends with one. */
  readonly epoch?: string;
}

/** All that a kind of records says of itself. */
export interface KindWords<Value extends object> {
  readonly name: string;
  /** The form of a value. A record of another form counts as none: its author is asked again, and nothing else is lost. */
  readonly schema: z.ZodType<Value>;
  /**
   * The end of all its records. Those of a conversation keep its epoch, go with the append that closes it, and are none in the next one. The
   * erasure of a session or scope takes every record along, whatever its kind.
   */
  readonly endsWith: 'conversation' | 'session' | 'time';
  /** The key under which a record is found across all homes. */
  readonly ownerOf?: (value: Value, id: string) => string | undefined;
  /** Whether an owner is a person by `Person.key`, whose erasure takes the records along in whatever home they are. @default false */
  readonly ofPerson?: boolean;
  /** When a record is due, by the store's clock, in milliseconds since the epoch. */
  readonly dueOf?: (value: Value) => number | undefined;
  /** The grant with which a record ends as well. */
  readonly grantOf?: (value: Value, id: string) => string | undefined;
  /** The end of a record by that of its grant, as the log tells it. */
  readonly ended?: (value: Value, id: string) => EventDraft;
}

/** The part of a kind that the kernel asks, whatever its values are. */
export interface RecordKind {
  readonly name: string;
  readonly ofPerson: boolean;
  /** Whether a record ends with the conversation: with it itself, or with a grant, all of which end with it. */
  endsWithConversation(record: StoredRecord): boolean;
  /** The end of all that ends with a grant, for its append. Null if nothing of this kind ever does. */
  endsWithGrant(store: RecordStore, log: ConversationHome, grantId: string): Promise<KindEnd> | null;
}

/** The end of records. */
export interface KindEnd {
  readonly events: readonly EventDraft[];
  readonly records: readonly RecordChange[];
}

type RecordStore = Pick<Store, 'records'>;

/** A home, and the conversation of interest there. */
type ConversationHome = RecordHome & { readonly epoch?: string };

/** The conversation and the condition of a change. */
interface Put {
  /** The conversation, for a kind that ends with one. */
  readonly epoch?: string;
  /** The token that the record must have; 0 if there must be none. @default no condition */
  readonly token?: number;
}

/** One kind of records: how they are named, written, read, bounded, and when they end. */
export class Kind<Value extends object> implements RecordKind {
  readonly #words: KindWords<Value>;

  constructor(words: KindWords<Value>) {
    this.#words = words;
  }

  get name(): string {
    return this.#words.name;
  }

  get ofPerson(): boolean {
    return this.#words.ofPerson ?? false;
  }

  /** The change that writes a record. */
  put(id: string, value: Value, { epoch, token }: Put = {}): RecordChange {
    const { name: kind, ownerOf, dueOf } = this.#words;
    const owner = ownerOf?.(value, id);
    const dueAt = dueOf?.(value);
    return {
      ...{ kind, id, value: JSON.stringify(epoch === undefined ? value : { epoch, ...value }) },
      ...(owner !== undefined && { owner }),
      ...(dueAt !== undefined && { dueAt }),
      ...(token !== undefined && { token }),
    };
  }

  /** The change that drops a record. @param token The token that it must have. @default no condition */
  drop(id: string, token?: number): RecordChange {
    return { kind: this.#words.name, id, ...(token !== undefined && { token }) };
  }

  /** The record that a store has kept; null if it has another form. */
  read({ home, id, token, value }: StoredRecord): Kept<Value> | null {
    const written = this.#parse(value);
    return written && { home, id, token, ...written };
  }

  /** The value that a change writes; null if it drops the record. */
  written({ value }: RecordChange): Value | null {
    return value === undefined ? null : (this.#parse(value)?.value ?? null);
  }

  #parse(text: string): Pick<Kept<Value>, 'value' | 'epoch'> | null {
    const { schema, endsWith } = this.#words;
    try {
      const written = JSON.parse(text) as { readonly epoch?: string };
      const { success, data: value } = schema.safeParse(written);
      if (!success) return null;
      const { epoch } = written;
      return { value, ...(endsWith === 'conversation' && epoch !== undefined && { epoch }) };
    } catch {
      return null;
    }
  }

  /** A record of a home. @throws GatewayError `OVERLOADED` */
  async one(store: RecordStore, home: ConversationHome, id: string): Promise<Kept<Value> | null> {
    return (await this.at(store, home, id)).kept;
  }

  /**
   * A record of a home, and the token of what is there under its name, to be replaced: 0 if nothing is. The record may be there and be none to this kind.
   *
   * @throws GatewayError `OVERLOADED`
   */
  async at(
    store: RecordStore,
    home: ConversationHome,
    id: string,
  ): Promise<{ readonly token: number; readonly kept: Kept<Value> | null }> {
    const named = { home, kind: this.#words.name, id, limit: 1 };
    const [record] = await asUnavailable(() => store.records(named));
    return { token: record?.token ?? 0, kept: this.#present(record ? this.read(record) : null, home) };
  }

  /** The records of a home, or of one conversation there. @throws GatewayError `OVERLOADED` */
  async all(store: RecordStore, home: ConversationHome): Promise<readonly Kept<Value>[]> {
    const named = { home, kind: this.#words.name, limit: MOST };
    const records = await asUnavailable(() => store.records(named));
    return records.flatMap((record) => this.#present(this.read(record), home) ?? []);
  }

  #present(kept: Kept<Value> | null, { epoch }: ConversationHome): Kept<Value> | null {
    return kept && (epoch === undefined || kept.epoch === undefined || kept.epoch === epoch) ? kept : null;
  }

  endsWithConversation(record: StoredRecord): boolean {
    const { endsWith, grantOf } = this.#words;
    if (endsWith === 'conversation') return true;
    const kept = grantOf ? this.read(record) : null;
    return kept !== null && grantOf!(kept.value, kept.id) !== undefined;
  }

  endsWithGrant(store: RecordStore, log: ConversationHome, grantId: string): Promise<KindEnd> | null {
    const { grantOf } = this.#words;
    return grantOf ? this.#endsOf(store, log, grantId, grantOf) : null;
  }

  async #endsOf(
    store: RecordStore,
    log: ConversationHome,
    grantId: string,
    grantOf: NonNullable<KindWords<Value>['grantOf']>,
  ): Promise<KindEnd> {
    const { ended } = this.#words;
    const lost = (await this.all(store, log)).filter(({ id, value }) => grantOf(value, id) === grantId);
    return {
      events: ended ? lost.map(({ id, value }) => ended(value, id)) : [],
      records: lost.map(({ id, token }) => this.drop(id, token)),
    };
  }
}

/** Makes a kind of records. */
export const kind = <Value extends object>(words: KindWords<Value>): Kind<Value> => new Kind(words);

/** A bound of the number of records. */
export interface RecordBound {
  readonly most: number;
  /** The option that sets it, such as `limits.grantsPerSession`. */
  readonly option: string;
  /** Whose records it bounds, and of what: `A session has at most 32 schedules`. */
  readonly says: string;
}

/** @throws GatewayError `QUOTA_EXCEEDED` naming the option, if there are so many already */
export function assertRoom(count: number, { most, option, says }: RecordBound): void {
  if (count < most) return;
  throw new LimitError(option, { code: 'QUOTA_EXCEEDED', message: `${says} (${option})` });
}
