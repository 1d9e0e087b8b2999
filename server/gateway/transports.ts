import { type ClientAddress, clientAddress, isForwarded, trustOf } from '../auth/client-address.js';
import type { Origins } from '../config/origins.js';
import type { ParsedConfig } from '../config/parse.js';
import type { Refusals } from '../lifecycle/refusals.js';
import { AddressGate, RequestGate } from '../limits/address-gate.js';
import { RateLimiter } from '../limits/token-bucket.js';
import type { PluginHost } from '../plugins/plugin-host.js';
import { allowedOrigins } from '../transports/allowed-origins.js';
import type { FrameEnvironment } from '../transports/frames/frame-environment.js';
import { SocketClients } from '../transports/frames/socket-clients.js';
import { HttpHandler } from '../transports/http/handler.js';
import type { HttpEnvironment } from '../transports/http/http-environment.js';
import { UnreadAnswers } from '../transports/http/unread.js';
import { answeredHosts, type OriginPolicy } from '../transports/origin.js';
import { WebSocketDoor } from '../transports/websocket/websocket-door.js';

/** Sustained rate of a socket's frames that request nothing. Bursts may be twice as many. */
const CHATTER_PER_SECOND = 50;

/** The parts of a gateway that its transports use. */
interface TransportParts
  extends Pick<
    HttpEnvironment,
    | 'apps'
    | 'authenticator'
    | 'calls'
    | 'connections'
    | 'load'
    | 'operations'
    | 'presence'
    | 'readiness'
    | 'ready'
    | 'report'
    | 'state'
    | 'ticker'
    | 'tickets'
  > {
  readonly plugins: PluginHost;
  readonly refusals: Refusals;
}

/** The transports of a gateway, and what stands before them. */
export interface Transports {
  readonly http: HttpHandler;
  readonly webSocket: WebSocketDoor;
  readonly clients: SocketClients;
  readonly frameEnvironment: FrameEnvironment;
  /** Answers that are written and not read yet. */
  readonly unread: UnreadAnswers;
  /** Counts the connections of each address. */
  readonly connectionGate: AddressGate;
  /** Whether an address belongs to a trusted proxy at a distance in hops. */
  readonly trust: (address: string, hop: number) => boolean;
  /** Replaces the pages of other origins that may call. */
  readonly allowOrigins: (origins: Origins) => void;
}

/** Makes the transports of a gateway, which admit the same pages, addresses and callers. */
export function createTransports(config: ParsedConfig, parts: TransportParts): Transports {
  const { auth, limits, extraRoutes } = config;
  const { apps, calls, plugins, presence, readiness, refusals, ticker, tickets, ...shared } = parts;
  const findAddress = clientAddress(config.trustProxy);
  const addressOf: ClientAddress = (request) => {
    if (config.trustProxy === undefined && isForwarded(request)) refusals.proxied();
    return findAddress(request);
  };
  const needs = { addressOf, report: parts.report };
  let allows = allowedOrigins(config.origins, needs);
  const origin = originPolicy(config, {
    allows: (page, request) => allows(page, request),
    onRefused: (refusal) => refusals.origin(refusal),
  });
  const door = {
    ...shared,
    addressOf,
    gate: new RequestGate(limits.requestsPerAddress, (address) =>
      refusals.crowded(address, 'limits.requestsPerAddress'),
    ),
    anonymous: auth.type === 'none',
    origin,
    cookies: auth.type === 'custom' && auth.cookies !== false,
    limits,
  };
  const unread = new UnreadAnswers(limits, ticker);
  const clients = new SocketClients(limits.handshakes);
  const chatter = new RateLimiter({ perSecond: CHATTER_PER_SECOND });
  const frameEnvironment = { ...door, clients, chatter };
  return {
    http: new HttpHandler({
      ...{ ...door, tickets, presence, apps, plugins, readiness, calls, ticker, unread, extraRoutes },
    }),
    webSocket: new WebSocketDoor({ ...frameEnvironment, tickets }, plugins),
    ...{ clients, frameEnvironment, unread },
    connectionGate: new AddressGate(limits.connectionsPerAddress, 'limits.connectionsPerAddress'),
    trust: trustOf(config.trustProxy),
    allowOrigins(origins) {
      allows = allowedOrigins(origins, needs);
    },
  };
}

function originPolicy(config: ParsedConfig, parts: Pick<OriginPolicy, 'allows' | 'onRefused'>): OriginPolicy {
  const { embedded, allowedHosts, auth } = config;
  return {
    ...parts,
    hosts: answeredHosts(config, allowedHosts),
    open: embedded && auth.type === 'none',
  };
}
