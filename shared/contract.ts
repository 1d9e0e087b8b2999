import type { StandardSchemaV1 } from '@standard-schema/spec';

/**
 * Set the types of your application once: `declare module 'agent-session-gateway' { interface Register { user: AppUser } }`.
 * `channels` and `events` are the types of the schemas that you give the gateway, and do the same for payloads of methods and apps.
 */
// biome-ignore lint/suspicious/noEmptyInterface: augmented by applications
export interface Register {}

/** The caller, as authentication and `hydrateUser` established it. */
export interface BaseUser {
  readonly id: string;
  readonly roles?: readonly string[];
  readonly tenantId?: string;
  readonly email?: string;
  /** Marks a program that speaks for many people. It has limits of its own. */
  readonly service?: boolean;
  readonly [field: string]: unknown;
}

/** The user that handlers see: the registered type, if there is one. */
export type UserContext = Register extends { user: infer User } ? User & BaseUser : BaseUser;

/** The types that a gateway carries to its callers, in one structural property, `'~contract'`. */
export interface Contract {
  readonly methods: unknown;
  readonly channels: unknown;
  readonly events: unknown;
}

/** The payloads that callers write, by name of the schema. */
export type PayloadTypes<Schemas> = {
  readonly [Name in keyof Schemas]: Schemas[Name] extends StandardSchemaV1
    ? StandardSchemaV1.InferInput<Schemas[Name]>
    : never;
};

/** Payloads by name, or `unknown` if none are registered. */
export type RegisteredChannels = Register extends { channels: infer Schemas }
  ? PayloadTypes<Schemas>
  : unknown;
export type RegisteredEvents = Register extends { events: infer Schemas } ? PayloadTypes<Schemas> : unknown;

/** The declared names; any string if none is declared. */
export type PayloadName<Payloads> = [keyof Payloads & string] extends [never]
  ? string
  : keyof Payloads & string;

/** The payload under a name; unknown if the name is not declared. */
export type PayloadAt<Payloads, Name extends string> = Name extends keyof Payloads ? Payloads[Name] : unknown;
