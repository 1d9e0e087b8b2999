const kept: { [key: symbol]: unknown } = globalThis as never;

const keyOf = (name: string): symbol => Symbol.for(`agent-session-gateway.${name}`);

/**
 * A value that all copies of this package in a process share. Bundlers such as that of Next.js put a copy into each route, and one copy
 * gets what another has made.
 */
export function inEveryCopy<T>(name: string, make: () => T): T {
  const key = keyOf(name);
  kept[key] ??= make();
  return kept[key] as T;
}

/** Lets `instanceof` a class also find instances that another copy of this package has made. */
export function knownInEveryCopy(type: abstract new (...args: any[]) => object, name: string): void {
  const brand = keyOf(name);
  Object.defineProperty(type.prototype, brand, { value: true });
  const { [Symbol.hasInstance]: isInstance } = Function.prototype;
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      // Classes that extend this one inherit the function, but not the brand of their own instances.
      if (this !== type) return isInstance.call(this as typeof Function.prototype, value);
      return typeof value === 'object' && value !== null && brand in value;
    },
  });
}
