/** A value that survives `JSON.parse(JSON.stringify(value))`. */
export type Json =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Json[]
  | { readonly [key: string]: Json };

type Unserialisable = ((...args: never) => unknown) | symbol;

/** Stands for a value that JSON does not carry. Give its schema a codec: `z.codec(written, value, { decode, encode })`. */
export interface NeedsCodec<Kind extends string> {
  readonly '~needs a codec': Kind;
}

/** The error for a value that JSON cannot carry; never for all others. */
type Lost<T> = T extends bigint
  ? NeedsCodec<'bigint'>
  : T extends ReadonlyMap<any, any>
    ? NeedsCodec<'Map'>
    : T extends ReadonlySet<any>
      ? NeedsCodec<'Set'>
      : never;

/** The type of a value that a caller writes as JSON: a `Date` too must be brought by a codec, since it would come as a text. */
export type CallerWrites<T> = unknown extends T
  ? T
  : T extends Json
    ? T
    : T extends Date
      ? NeedsCodec<'Date'>
      : T extends bigint | ReadonlyMap<any, any> | ReadonlySet<any>
        ? Lost<T>
        : T extends { toJSON(): unknown } | Unserialisable
          ? T
          : { [K in keyof T]: CallerWrites<T[K]> };

/**
 * The type of a value after one trip over the wire: `Date` becomes `string`, functions vanish, a `Map` needs a codec. A type that is already JSON comes back unchanged, so
 * that editors show its own name.
 */
export type Wire<T> = unknown extends T
  ? T
  : T extends Json
    ? T
    : T extends { toJSON(): infer Made }
      ? Wire<Made>
      : T extends Unserialisable
        ? never
        : T extends bigint | ReadonlyMap<any, any> | ReadonlySet<any>
          ? Lost<T>
          : T extends readonly unknown[]
            ? { [K in keyof T]: Wire<T[K]> }
            : { [K in keyof T as T[K] extends Unserialisable ? never : K]: Wire<T[K]> };
