import type { NoteOptions } from '../../../server/stores/shared-store.js';
import type { Store, StoreErrorCode } from '../../../server/stores/store.js';

/** What a gateway asks of the hub: what a store does, and what a member of it does. */
export type Served =
  | Exclude<keyof Store, 'durability' | 'files' | 'shared' | 'open' | 'close' | 'watch'>
  | 'join'
  | 'alive'
  | 'members'
  | 'tell'
  | 'leave'
  | 'watch'
  | 'unwatch'
  | 'followers'
  | 'held'
  | 'put'
  | 'get'
  | 'drop';

/** A call, one JSON object a line. */
export interface Call {
  readonly id: number;
  readonly call: Served;
  readonly args: readonly unknown[];
}

/** The answer to a call. */
export type Ended =
  | { readonly id: number; readonly ok: unknown }
  | { readonly id: number; readonly error: { readonly code: StoreErrorCode; readonly message: string } };

/** What the hub says of itself. */
export type News = { readonly wake: string } | { readonly mail: string };

export type Note = NoteOptions;
