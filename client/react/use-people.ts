import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { Control, RequestedHandOff } from '../../shared/control.js';
import {
  type PresenceView,
  type SessionControl,
  type SessionPresence,
  sessionControl,
  sessionPresence,
} from '../people/index.js';
import { useGateway } from './provider.js';
import { useSession } from './use-session.js';

/** Control of a session, as it changes while the component is mounted, with the actions to take over and hand back. */
export function useControl(id: string): SessionControl & {
  readonly control: Control | undefined;
  readonly handOff: RequestedHandOff | undefined;
} {
  const client = useGateway();
  const { control, handOff } = useSession(id);
  const calls = useMemo(() => sessionControl(client, id), [client, id]);
  return useMemo(() => ({ ...calls, control, handOff }), [calls, control, handOff]);
}

const doNothing = (): void => {};
const NOTHING: PresenceView = { members: [] };
/** The people in no session. */
const NOBODY: Omit<SessionPresence, typeof Symbol.asyncIterator> = {
  enter: doNothing,
  typing: doNothing,
  leave: doNothing,
  getSnapshot: () => NOTHING,
  subscribe: () => doNothing,
};

/**
 * The people in a session, while the component is mounted.
 *
 * @param id The session's key; undefined for no session.
 * @param data JSON for the others about this page's user. Without it this page does not enter.
 */
export function usePresence(
  id: string | undefined,
  data?: unknown,
): PresenceView & Pick<SessionPresence, 'typing'> {
  const client = useGateway();
  const presence = useMemo(() => (id === undefined ? NOBODY : sessionPresence(client, id)), [client, id]);
  const view = useSyncExternalStore(presence.subscribe, presence.getSnapshot, presence.getSnapshot);
  const told: string | undefined = JSON.stringify(data);
  const entered = useRef<typeof NOBODY | null>(null);
  useEffect(() => {
    if (told !== undefined) presence.enter(JSON.parse(told));
    else if (entered.current === presence) presence.leave();
    entered.current = presence;
  }, [presence, told]);
  useEffect(() => () => presence.leave(), [presence]);
  return useMemo(() => ({ ...view, typing: presence.typing }), [view, presence]);
}
