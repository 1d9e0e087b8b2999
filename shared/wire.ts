/** A value that survives `JSON.parse(JSON.stringify(value))`. */
export type Json =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Json[]
  | { readonly [key: string]: Json };

type Unserialisable = ((...args: never) => unknown) | symbol | bigint;

/**
 * The type of a value after one trip over the wire: `Date` becomes `string`, functions vanish. A type that is already JSON comes back unchanged, so
 * that editors show its own name.
 */
export type Wire<T> = unknown extends T
  ? T
  : T extends Json
    ? T
    : T extends { toJSON(): infer Written }
      ? Wire<Written>
      : T extends Unserialisable
        ? never
        : T extends readonly unknown[]
          ? { [K in keyof T]: Wire<T[K]> }
          : { [K in keyof T as T[K] extends Unserialisable ? never : K]: Wire<T[K]> };
