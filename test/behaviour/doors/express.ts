import { createServer } from 'node:http';
import express from 'express';
import { type ClientTransport, webSocketTransport } from '../../../client/index.js';
import { gatewayMiddleware } from '../../../server/index.js';
import { TestLogger } from '../../support/gateway.js';
import { listenWith } from '../../support/host-server.js';
import { closeLater } from '../../support/resources.js';
import { cuttable, type Door, openDoor, settings } from './door.js';
import { NodeWebSocket } from './own.js';

function inExpress(name: string, transport?: (baseUrl: string, user: string) => ClientTransport): Door {
  return {
    name: `Express, ${name}`,
    takesTokens: true,
    async open(config) {
      const log = new TestLogger();
      const gateway = gatewayMiddleware(settings(config, log));
      closeLater(gateway.gateway, (it) => it.close());
      const server = createServer(express().use(express.json()).use('/api/agent', gateway));
      gateway.attach(server);
      const proxy = await cuttable(await listenWith(server));
      const baseUrl = `${proxy.url}/api/agent`;
      const make = transport && { transport: (user: string) => transport(baseUrl, user) };
      return openDoor(gateway.gateway, log, { baseUrl, cut: proxy.cut, ...make });
    },
  };
}

export const expressSse = inExpress('SSE');
export const expressWebSocket = inExpress('WebSocket', (baseUrl, token) =>
  webSocketTransport({ baseUrl, token, WebSocket: NodeWebSocket }),
);
