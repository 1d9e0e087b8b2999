import { loadPeer } from '../../runtime/optional-peer.js';

export type AgUiSdk = typeof import('@ag-ui/client');

/** @throws GatewayError `INTERNAL` naming the package to install */
export const loadSdk = (): Promise<AgUiSdk> =>
  loadPeer('@ag-ui/client', 'agUiApp', async () => {
    const sdk = await import('@ag-ui/client');
    if (!('CompatibilityBoundary' in sdk)) throw new Error('agUiApp needs version 1 of @ag-ui/client');
    return sdk;
  });
