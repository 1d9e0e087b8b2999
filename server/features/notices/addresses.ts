import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** Networks that are not the internet: this host's, private, shared, link-local (clouds have their metadata there), for documents, multicast. */
const NETWORKS = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // The address of Azure's own services to a machine. It looks public.
  '168.63.129.16/32',
  // IPv6, within the internet's range: for protocols (tunnels too), for documents, tunnels to IPv4 addresses.
  ...['2001::/23', '2001:db8::/32', '3fff::/20', '2002::/16'],
];

/** The range of IPv6 that is the internet. */
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

const blocked = new BlockList();
// `isIPv6` takes 8 ms at its first call, and this is called by whoever imports the gateway.
for (const network of NETWORKS) {
  const [address = '', bits] = network.split('/');
  blocked.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
}

/** The IPv4 address that an IPv4-mapped IPv6 address contains; any other address unchanged. */
function unmapped(address: string): string {
  if (!isIPv6(address)) return address;
  // A URL normalizes the many spellings of the address.
  const [, high, low] =
    /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (high === undefined || low === undefined) return address;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

/** Whether a stranger must not make this host connect to an IP address. True also for text that is no address. */
export function isPrivateAddress(address: string): boolean {
  const plain = unmapped(address.replace(/%.*$/, ''));
  const version = isIP(plain);
  if (version === 0) return true;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  return blocked.check(plain, family) || (version === 6 && !global6.check(plain, family));
}

/** A name or address that leads to a private address. */
export class PrivateAddress extends Error {
  constructor(host: string) {
    super(`${host} is, or leads to, a private address (notify.allowPrivate)`);
  }
}

/** Looks a name up, and refuses it if any address is private. Each connection calls it, so addresses cannot change between check and use. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  const all: LookupOptions & { readonly all: true } = { ...options, all: true };
  lookup(hostname, all, (error, found: LookupAddress[]) => {
    const first = found?.[0];
    if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '', 0);
    if (found.some(({ address }) => isPrivateAddress(address)))
      return callback(new PrivateAddress(hostname), '', 0);
    if (options.all) return callback(null, found);
    callback(null, first.address, first.family);
  });
};

/** @throws PrivateAddress if the URL contains a private address literally, because then no name is looked up */
export function assertPublicHost({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isPrivateAddress(host)) throw new PrivateAddress(host);
}
