import net, { type AddressInfo, Server } from 'node:net';
import { WebSocket as NodeWebSocket } from 'ws';

/** Ports as pages write them, and those that stand for them here: what many run at the same time must not share. */
const ports = new Map<number, number>();
/** Names of other machines, and what stands for them here. */
const names = new Map<string, string>();

/** Has an address of the documentation lead to a server here. */
export function standFor(origin: string, here: string): void {
  const { hostname, port } = new URL(origin);
  if (hostname === '127.0.0.1') ports.set(Number(port), Number(new URL(here).port));
  else names.set(new URL(origin).host, new URL(here).host);
}

/** An address of the documentation as it is reached here. */
export function reach(address: string | URL): string {
  const url = new URL(String(address), globalThis.location?.href);
  const here = names.get(url.host);
  if (here) {
    url.protocol = url.protocol === 'wss:' ? 'ws:' : url.protocol === 'https:' ? 'http:' : url.protocol;
    url.host = here;
  }
  const port = ports.get(Number(url.port));
  if (port && url.hostname === '127.0.0.1') url.port = String(port);
  return url.href;
}

/** From now on servers take a free port where a page names one, and callers find it. */
export function open(): void {
  const { listen } = Server.prototype;
  Server.prototype.listen = function (this: Server, ...args: any[]) {
    const [first] = args;
    const wanted =
      typeof first === 'number' ? first : typeof first === 'object' && first ? Number(first.port) : 0;
    if (!wanted) return listen.apply(this, args as never);
    this.once('listening', () => {
      // It may be closed again by now.
      const address = this.address() as AddressInfo | null;
      if (address) ports.set(wanted, address.port);
    });
    const free = typeof first === 'number' ? 0 : { ...first, port: 0 };
    return listen.apply(this, [free, ...args.slice(1)] as never);
  } as typeof listen;
  const { connect } = net;
  net.connect = net.createConnection = ((...args: any[]) => {
    const [first] = args;
    const port = first && typeof first === 'object' ? ports.get(Number(first.port)) : undefined;
    return connect(...([port ? { ...first, port } : first, ...args.slice(1)] as Parameters<typeof connect>));
  }) as typeof connect;
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) =>
    typeof input === 'string' || input instanceof URL ? fetch(reach(input), init) : fetch(input, init);
  globalThis.WebSocket = class extends NodeWebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(reach(url), protocols);
    }
  } as never;
}
