import type * as Sdk from '@agentclientprotocol/sdk';
import { loadPeer } from '../../runtime/optional-peer.js';

/** The official TypeScript SDK, as far as it speaks version 1 of the protocol. */
export type AcpSdk = typeof Sdk;

/**
 * Loads the SDK, an optional peer.
 *
 * @throws GatewayError `INTERNAL` naming the package to install
 */
export function loadAcpSdk(): Promise<AcpSdk> {
  const beside = ['@modelcontextprotocol/server'];
  return loadPeer('@agentclientprotocol/sdk', 'acp', () => import('@agentclientprotocol/sdk'), beside);
}
