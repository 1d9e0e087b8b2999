import type { EventType } from '../../shared/events.js';
import type { InvokeArgs, MethodTreeOf, PathsIn, ResultAt } from '../../shared/method.js';
import type { Client } from '../client.js';
import type { EventHookOptions } from '../hooks/events.js';
import type { SessionOptions, SessionViewOf } from '../hooks/session-store.js';
import type { Channel, ChannelGap, ChannelMessage } from '../session.js';
import type { ChannelInput, ChannelNames, ChannelPayload, ClientEvent } from '../typed-events.js';
import { useGateway } from './provider.js';
import { type MethodHandle, useMethod } from './use-calls.js';
import { useChannel, useSessionEvents } from './use-events.js';
import { type SelectOptions, useSession } from './use-session.js';

/** Hooks with a gateway's types: paths, parameters and results of methods, payloads of channels and events, content of sessions. */
export interface GatewayHooks<Source> {
  readonly useGateway: () => Client<Source>;
  readonly useSession: {
    <T>(id: string, options: SessionOptions & SelectOptions<T, SessionViewOf<Source>>): T;
    (id: string, options?: SessionOptions): SessionViewOf<Source>;
  };
  readonly useMethod: <Path extends PathsIn<MethodTreeOf<Source>, ''>['union']>(
    path: Path,
  ) => MethodHandle<InvokeArgs<MethodTreeOf<Source>, Path>, ResultAt<MethodTreeOf<Source>, Path>>;
  readonly useChannel: <Name extends ChannelNames<Source>>(
    id: string,
    name: Name,
    handler?: (message: ChannelMessage<ChannelPayload<Source, Name>> | ChannelGap) => void,
  ) => Pick<Channel<ChannelInput<Source, Name>, ChannelPayload<Source, Name>>, 'publish'>;
  readonly useSessionEvents: <Type extends EventType = EventType>(
    id: string,
    handler: (event: ClientEvent<Source, Type>) => void,
    options?: EventHookOptions<Type>,
  ) => void;
}

const hooks = { useGateway, useSession, useMethod, useChannel, useSessionEvents };

/**
 * The same hooks, typed by a gateway. Call it once, in a module of its own.
 *
 * @example
 * ```ts
 * const typed = gatewayHooks<typeof gateway>();
 * ```
 */
export function gatewayHooks<Source extends object>(): GatewayHooks<Source> {
  return hooks as unknown as GatewayHooks<Source>;
}
