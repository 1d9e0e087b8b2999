import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import { GatewayError } from '../../shared/gateway-error.js';
import type { Client } from '../client.js';

const GatewayContext = createContext<Client<any> | undefined>(undefined);

/** Props of `GatewayProvider`. */
export interface GatewayProviderProps {
  /** The client of all components below. Create it once, outside of components; on a server once for each request. */
  readonly client: Client<any>;
  readonly children?: ReactNode;
}

/**
 * Gives a client to the hooks below it. Unmounting it disconnects nothing.
 *
 * @example
 * ```ts
 * const page = createElement(GatewayProvider, { client }, createElement('main'));
 * ```
 */
export function GatewayProvider({ client, children }: GatewayProviderProps): ReactElement {
  return createElement(GatewayContext.Provider, { value: client }, children);
}

/** The client of the nearest `GatewayProvider`. @throws GatewayError `INVALID_REQUEST` outside of one */
export function useGateway(): Client {
  const client = useContext(GatewayContext);
  if (client) return client;
  const message = 'There is no <GatewayProvider client={…}> above this component';
  throw new GatewayError({ code: 'INVALID_REQUEST', status: 400, message });
}
