import type { Assembly } from './assembly.js';

const parts = new WeakMap<object, Assembly>();

/** Keeps the parts of a gateway for `partsOf`. */
export function keepParts(gateway: object, assembly: Assembly): void {
  parts.set(gateway, assembly);
}

/** The parts of a gateway, for the functions that hosts use and that are no methods of it. */
export function partsOf(gateway: object): Assembly {
  return parts.get(gateway)!;
}
