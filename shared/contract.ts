import type { StandardSchemaV1 } from '@standard-schema/spec';

/**
 * Set the types of your application once: `declare module 'agent-session-gateway' { interface Register { user: AppUser } }`.
 * `channels` and `events`, the types of the schemas you give the gateway, do the same for what methods and apps publish and emit.
 */
// biome-ignore lint/suspicious/noEmptyInterface: augmented by applications
export interface Register {}

/** Who is calling, as authentication and `hydrateUser` established it. */
export interface BaseUser {
  readonly id: string;
  readonly roles?: readonly string[];
  readonly tenantId?: string;
  readonly email?: string;
  /** A program that speaks for many people: it has bounds of its own. */
  readonly service?: boolean;
  readonly [field: string]: unknown;
}

/** The user that handlers see: the registered type where there is one. */
export type UserContext = Register extends { user: infer User } ? User & BaseUser : BaseUser;

/** What a gateway's type carries to its callers: one structural property, `'~contract'`. */
export interface Contract {
  readonly methods: unknown;
  readonly channels: unknown;
  readonly events: unknown;
}

/** What callers write for each schema, by name. */
export type PayloadTypes<Schemas> = {
  readonly [Name in keyof Schemas]: Schemas[Name] extends StandardSchemaV1
    ? StandardSchemaV1.InferInput<Schemas[Name]>
    : never;
};

/** Payloads by name, or `unknown` where none are registered. */
export type RegisteredChannels = Register extends { channels: infer Schemas }
  ? PayloadTypes<Schemas>
  : unknown;
export type RegisteredEvents = Register extends { events: infer Schemas } ? PayloadTypes<Schemas> : unknown;

/** The names that are declared; any where none is. */
export type PayloadName<Payloads> = [keyof Payloads & string] extends [never]
  ? string
  : keyof Payloads & string;

/** The payload under a name; unknown where the name is not declared. */
export type PayloadAt<Payloads, Name extends string> = Name extends keyof Payloads ? Payloads[Name] : unknown;
