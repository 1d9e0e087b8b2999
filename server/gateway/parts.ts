import { GatewayError } from '../../shared/errors.js';
import { inEveryCopy } from '../../shared/in-every-copy.js';
import type { Assembly } from './assembly.js';

const parts = inEveryCopy('parts', () => new WeakMap<object, Assembly>());

/** Keeps the parts of a gateway for `partsOf`. */
export function keepParts(gateway: object, assembly: Assembly): void {
  parts.set(gateway, assembly);
}

/**
 * The parts of a gateway, for the functions that hosts use and that are no methods of it.
 *
 * @throws GatewayError `INVALID_REQUEST` for anything else than a gateway
 */
export function partsOf(gateway: object): Assembly {
  const assembly = parts.get(gateway);
  if (assembly) return assembly;
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: 'This is not a gateway: createGateway makes one',
  });
}

/** Whether a value is a gateway, also one of another copy of this package. */
export function isGateway(value: object): boolean {
  return parts.has(value);
}
