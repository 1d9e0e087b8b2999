import { closeLater } from './resources.js';

/** Changes a global until the test ends. */
export function withGlobal(name: string, value: unknown, target: object = globalThis): void {
  const old = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  closeLater(target, () => {
    if (old) Object.defineProperty(target, name, old);
    else delete (target as Record<string, unknown>)[name];
  });
}
