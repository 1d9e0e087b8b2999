import type * as z from 'zod';

/** Schemas make mutable objects; the types of the protocol are read-only. */
type Writable<T> = T extends object ? { -readonly [Key in keyof T]: Writable<T[Key]> } : T;

type Made<Schema> = Writable<
  Schema extends z.ZodType
    ? z.output<Schema>
    : Schema extends z.ZodRawShape
      ? z.output<z.ZodObject<Schema>>
      : never
>;

/** True for types that are the same to the checker, `any` and `readonly` included. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

type KeysOf<T> = T extends unknown ? keyof T : never;
type PartOf<T, Key> = T extends unknown ? Pick<T, Key & keyof T> : never;

/** The fields that only one of two types, or unions, has, or that differ. */
type Differing<A, B> = {
  [Key in KeysOf<A | B>]: Equal<PartOf<A, Key>, PartOf<B, Key>> extends true ? never : Key;
}[KeysOf<A | B>];

/**
 * Holds a schema, or the fields of an object, to its type: `schema satisfies Exactly<typeof schema, Type>`. That a schema is assignable to
 * `z.ZodType<Type>` is not enough, since it may lack an optional field, which closed objects then refuse, or have one that no type has.
 */
export type Exactly<Schema, Type> =
  Equal<Made<Schema>, Writable<Type>> extends true
    ? unknown
    : { readonly differs: Differing<Made<Schema>, Writable<Type>> };

/** The same for each entry of a table: `table satisfies ExactlyEach<typeof table, Types>`. */
export type ExactlyEach<Table, Types> = {
  [Name in keyof Types]: Name extends keyof Table ? Exactly<Table[Name], Types[Name]> : unknown;
};
