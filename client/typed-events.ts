import type { PayloadAt, PayloadName } from '../shared/contract.js';
import type { EventOf, EventType } from '../shared/events.js';
import type { Wire } from '../shared/wire.js';

/** The payloads a gateway's type carries for one part of its contract; unknown where it carries none. */
type PayloadsOf<Source, Part extends 'channels' | 'events'> = Source extends {
  readonly '~contract': { readonly [P in Part]: infer Payloads };
}
  ? Payloads
  : unknown;

/** Names of the channels a gateway declares; any name where it declares none. */
export type ChannelNames<Source> = PayloadName<PayloadsOf<Source, 'channels'>>;

/** What a caller publishes on a channel. */
export type ChannelInput<Source, Name extends string> = PayloadAt<PayloadsOf<Source, 'channels'>, Name>;

/** What a subscriber of a channel receives: what was published, after the wire. */
export type ChannelPayload<Source, Name extends string> = Wire<ChannelInput<Source, Name>>;

type CustomEvents<Payloads> = [keyof Payloads & string] extends [never]
  ? EventOf<'custom'>
  : {
      [Name in keyof Payloads & string]: Omit<EventOf<'custom'>, 'name' | 'payload'> & {
        readonly name: Name;
        readonly payload: Wire<Payloads[Name]>;
      };
    }[keyof Payloads & string];

/** Events of some types, as a client of this gateway sees them. */
export type ClientEvent<Source, Type extends EventType = EventType> =
  | EventOf<Exclude<Type, 'custom'>>
  | ('custom' extends Type ? CustomEvents<PayloadsOf<Source, 'events'>> : never);
