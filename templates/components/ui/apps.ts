import type { AppSummary, Client } from 'agent-session-gateway/client';
import { useGateway } from 'agent-session-gateway/client/react';
import { useEffect, useState } from 'react';

/** The state of a read. */
export interface Read<T> {
  readonly data?: T;
  readonly error?: Error;
}

/** Reads a value once for each client. @param read Must be the same function at each render. */
export function useRead<T>(read: (client: Client) => Promise<T>): Read<T> {
  const client = useGateway();
  const [state, setState] = useState<Read<T>>({});
  useEffect(() => {
    let left = false;
    read(client).then(
      (data) => left || setState({ data }),
      (error) => left || setState({ error }),
    );
    return () => {
      left = true;
    };
  }, [client, read]);
  return state;
}

const readApps = async (client: Client) => (await client.apps()).apps;

/** The apps that the caller may use; undefined before they are read. */
export function useApps(): readonly AppSummary[] | undefined {
  return useRead(readApps).data;
}

/** The app of a session: the one that its key begins with, or the default app. */
export function appOf(apps: readonly AppSummary[] | undefined, sessionId: string): AppSummary | undefined {
  const at = sessionId.indexOf(':');
  return apps?.find(({ name, isDefault }) => (at < 0 ? isDefault : name === sessionId.slice(0, at)));
}
