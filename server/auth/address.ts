import { isIPv4, isIPv6 } from 'node:net';
import { cut } from '../../shared/cut.js';

const LOOPBACK = '127.0.0.1';

/**
 * One text for all addresses that one party controls at no cost: IPv4 in its plain form (also when written as `::ffff:1.2.3.4`), IPv6 by
 * its /64, the whole loopback range as `127.0.0.1`, and `local` without an address.
 */
export function addressKey(ip: string): string {
  if (isIPv4(ip)) return ip.startsWith('127.') ? LOOPBACK : ip;
  const zone = ip.indexOf('%');
  const plain = zone < 0 ? ip : ip.slice(0, zone);
  if (!isIPv6(plain)) return cut(ip, 64) || 'local';
  const groups = expand(plain);
  const embedded = groups.slice(0, 5).every((group) => group === 0);
  const [high = 0, low = 0] = groups.slice(6);
  if (embedded && groups[5] === 0xffff) return addressKey(dotted(high, low));
  if (embedded && groups[5] === 0 && high === 0 && low === 1) return LOOPBACK;
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** Whether an address can be reached only from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function expand(ip: string): number[] {
  const [head = '', tail] = ip.split('::');
  const front = parseGroups(head);
  if (tail === undefined) return front;
  const back = parseGroups(tail);
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}

function parseGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
