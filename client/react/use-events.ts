import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { EventType } from '../../shared/events.js';
import { type EventHookOptions, forEach, uncaught } from '../hooks/events.js';
import type { Channel, ChannelGap, ChannelMessage } from '../session.js';
import type { ClientEvent } from '../typed-events.js';
import { useGateway } from './provider.js';

/** The function of the last render that was committed, under one identity. */
function useLatest<Args extends unknown[]>(run: ((...args: Args) => void) | undefined) {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  return useCallback((...args: Args) => latest.current?.(...args), []);
}

/**
 * Calls the handler for each event of a session, once, while the component is mounted. Events are no state: nothing renders. The
 * handler may change between renders.
 */
export function useSessionEvents<Type extends EventType = EventType>(
  id: string,
  handler: (event: ClientEvent<unknown, Type>) => void,
  options: EventHookOptions<Type> = {},
): void {
  const client = useGateway();
  const handle = useLatest(handler);
  const fail = useLatest(options.onError ?? uncaught);
  const { from } = options;
  // Written in place, the list is another one at each render.
  const types = options.types?.join();
  useEffect(
    () => forEach(client.events(id, { from, types: types?.split(',') as Type[] | undefined }), handle, fail),
    [client, id, from, types, handle, fail],
  );
}

/**
 * A channel of a session: `publish` to it, and hear what is published while the component is mounted, also by this client. A `gap`
 * says that messages are missing.
 */
export function useChannel(
  id: string,
  name: string,
  handler?: (message: ChannelMessage<unknown> | ChannelGap) => void,
): Pick<Channel<unknown, unknown>, 'publish'> {
  const client = useGateway();
  const handle = useLatest(handler);
  const listens = handler !== undefined;
  const channel = useMemo(() => client.channel(name, id), [client, name, id]);
  useEffect(() => (listens ? forEach(channel, handle, uncaught) : undefined), [channel, handle, listens]);
  return channel;
}
