import type {
  AskedOf,
  ContentEvents,
  ContentEventType,
  ContentOf,
  IsPlain,
  MessageOf,
  ToolCallOf,
  WithMessage,
} from '../shared/content.js';
import type { PayloadAt, PayloadName } from '../shared/contract.js';
import type { EventOf, EventType } from '../shared/events.js';
import type { ActiveRun, PendingQuestion, SessionState } from '../shared/fold.js';
import type { HistoryPage } from '../shared/operation-types.js';
import type { Wire } from '../shared/wire.js';

/** The payloads that a gateway's type carries for one part of its contract; unknown if it carries none. */
type PayloadsOf<Source, Part extends 'channels' | 'events'> = Source extends {
  readonly '~contract': { readonly [P in Part]: infer Payloads };
}
  ? Payloads
  : unknown;

/** Names of the channels that a gateway declares; any name if it declares none. */
export type ChannelNames<Source> = PayloadName<PayloadsOf<Source, 'channels'>>;

/** The payload that a caller publishes on a channel. */
export type ChannelInput<Source, Name extends string> = PayloadAt<PayloadsOf<Source, 'channels'>, Name>;

/** The payload that a subscriber of a channel receives, after the wire. */
export type ChannelPayload<Source, Name extends string> = Wire<ChannelInput<Source, Name>>;

type CustomEvents<Payloads> = [keyof Payloads & string] extends [never]
  ? EventOf<'custom'>
  : {
      [Name in keyof Payloads & string]: Omit<EventOf<'custom'>, 'name' | 'payload'> & {
        readonly name: Name;
        readonly payload: Wire<Payloads[Name]>;
      };
    }[keyof Payloads & string];

/** Events whose data a gateway's type describes, by type. */
interface DescribedEvents<Source> extends ContentEvents<ContentOf<Source>> {
  readonly custom: CustomEvents<PayloadsOf<Source, 'events'>>;
}

type DescribedType = 'custom' | ContentEventType;

/** Events of some types, as a client of this gateway sees them. */
export type ClientEvent<Source, Type extends EventType = EventType> =
  | EventOf<Exclude<Type, DescribedType>>
  | DescribedEvents<Source>[Type & DescribedType];

/** A message of this gateway, with the declared types of its apps' tools and data blocks. */
export type ClientMessage<Source> = MessageOf<ContentOf<Source>>;

/** A pending request for an answer. A confirmation is about a tool; an input belongs to a question or a client's tool. */
export type ClientPending<Source> =
  | (ToolCallOf<PendingQuestion, ContentOf<Source>> & { readonly kind: 'confirmation' })
  | (AskedOf<PendingQuestion, ContentOf<Source>, 'input'> & { readonly kind: 'input' });

/** A session's state as a client of this gateway sees it. */
export type ClientState<Source, State extends SessionState> =
  IsPlain<ContentOf<Source>> extends true
    ? State
    : Omit<State, 'messages' | 'run' | 'pending'> & {
        readonly messages: readonly ClientMessage<Source>[];
        readonly run: WithMessage<ActiveRun, ContentOf<Source>> | null;
        readonly pending: readonly ClientPending<Source>[];
      };

/** A page of history as a client of this gateway sees it. */
export interface ClientHistory<Source> extends Omit<HistoryPage, 'messages'> {
  readonly messages: readonly ClientMessage<Source>[];
}
