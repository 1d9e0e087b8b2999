import type { Peer } from './peer.js';

/** Peers by name; what they are made of is loaded where they start. */
export const PEERS: Readonly<Record<string, () => Promise<Peer>>> = {
  gateway: async () => (await import('./gateway.js')).gateway,
  // The gateway of another checkout, of `--against`.
  other: async () => (await import('./gateway.js')).gateway,
  raw: async () => (await import('./raw.js')).raw,
  express: async () => (await import('./express.js')).express,
  fastify: async () => (await import('./fastify.js')).fastify,
  hono: async () => (await import('./hono.js')).hono,
  'better-sse': async () => (await import('./better-sse.js')).betterSse,
  trpc: async () => (await import('./trpc.js')).trpc,
  ws: async () => (await import('./ws.js')).ws,
  'socket.io': async () => (await import('./socket-io.js')).socketIo,
};

/** A peer of a name and a variant, which follows a colon: `raw:socket`. */
export function parsePeer(name: string): { readonly peer: string; readonly variant: string } {
  const [peer = '', variant = ''] = name.split(':');
  return { peer, variant };
}

export async function loadPeer(name: string): Promise<Peer> {
  const load = PEERS[parsePeer(name).peer];
  if (!load) throw new Error(`No peer is called ${name}; there are ${Object.keys(PEERS).join(', ')}`);
  return load();
}
