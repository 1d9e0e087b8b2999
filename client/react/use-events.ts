import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { EventType } from '../../shared/events.js';
import { type EventHookOptions, forEach, uncaught } from '../hooks/events.js';
import type { Channel, ChannelGap, ChannelMessage } from '../session.js';
import type { ClientEvent } from '../typed-events.js';
import { useGateway } from './provider.js';

/** Calls the function of the last committed render, by a function whose identity never changes. */
function useLatest<Args extends unknown[]>(run: ((...args: Args) => void) | undefined) {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  return useCallback((...args: Args) => latest.current?.(...args), []);
}

/**
 * Calls the handler once for each event of a session, while the component is mounted. Events are no state, so nothing renders. The handler
 * may change between renders.
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
  // A list literal is a new object at each render.
  const types = options.types?.join();
  useEffect(
    () => forEach(client.events(id, { from, types: types?.split(',') as Type[] | undefined }), handle, fail),
    [client, id, from, types, handle, fail],
  );
}

/**
 * A channel of a session: `publish` to it, and receive its messages while the component is mounted, this client's own included. A `gap`
 * tells of missing messages.
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
