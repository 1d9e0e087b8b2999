import type * as Library from '@agentclientprotocol/sdk';
import { loadPeer } from '../../runtime/optional-peer.js';

/** The package `@agentclientprotocol/sdk`, as far as it speaks version 1 of the protocol. */
export type AcpLibrary = typeof Library;

/**
 * Loads the package.
 *
 * @throws GatewayError `INTERNAL` naming the packages, if they are not installed
 */
export const loadAcp = (): Promise<AcpLibrary> =>
  loadPeer('@agentclientprotocol/sdk', 'acpApp', () => import('@agentclientprotocol/sdk'), [
    '@modelcontextprotocol/server',
  ]);
