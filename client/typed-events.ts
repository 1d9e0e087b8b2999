import type { EventOf, EventType } from '../shared/events.js';
import type { Wire } from '../shared/wire.js';

/** The schemas a gateway's type carries for one part of its contract; unknown where it carries none. */
type SchemasOf<Source, Part extends 'channels' | 'events'> = Source extends {
  readonly '~contract': { readonly [P in Part]: infer Schemas };
}
  ? Schemas
  : unknown;

type NamesIn<Schemas> = [keyof Schemas & string] extends [never] ? string : keyof Schemas & string;

/** Standard Schema, seen structurally: its types without a dependency on its package. */
interface Typed<Input, Output> {
  readonly '~standard': { readonly types?: { readonly input: Input; readonly output: Output } | undefined };
}

type InputOf<Schema> = Schema extends Typed<infer Input, unknown> ? Input : unknown;
type OutputOf<Schema> = Schema extends Typed<unknown, infer Output> ? Wire<Output> : unknown;
type At<Schemas, Name extends string> = Name extends keyof Schemas ? Schemas[Name] : unknown;

/** Names of the channels a gateway declares; any name where it declares none. */
export type ChannelNames<Source> = NamesIn<SchemasOf<Source, 'channels'>>;

/** What a caller publishes on a channel. */
export type ChannelInput<Source, Name extends string> = InputOf<At<SchemasOf<Source, 'channels'>, Name>>;

/** What a subscriber of a channel receives. */
export type ChannelPayload<Source, Name extends string> = OutputOf<At<SchemasOf<Source, 'channels'>, Name>>;

type CustomEvents<Schemas> = [keyof Schemas & string] extends [never]
  ? EventOf<'custom'>
  : {
      [Name in keyof Schemas & string]: Omit<EventOf<'custom'>, 'name' | 'payload'> & {
        readonly name: Name;
        readonly payload: OutputOf<Schemas[Name]>;
      };
    }[keyof Schemas & string];

/** Events of some types, as a client of this gateway sees them. */
export type ClientEvent<Source, Type extends EventType = EventType> =
  | EventOf<Exclude<Type, 'custom'>>
  | ('custom' extends Type ? CustomEvents<SchemasOf<Source, 'events'>> : never);
