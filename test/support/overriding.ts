/** What an object has, but for some members that a test has its own of. Those may call the inner object's. */
export function overriding<T extends object>(inner: T, own: Partial<T>): T {
  return new Proxy(inner, {
    get(target, name) {
      if (name in own) return own[name as keyof T];
      const member = target[name as keyof T];
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** What an object has, each call of which the test decides about. @param pass Gets the name of a member, what calls it, and the arguments */
export function passing<T extends object>(
  inner: T,
  pass: (name: string, call: () => unknown, args: readonly unknown[]) => unknown,
): T {
  return new Proxy(inner, {
    get(target, name) {
      const member = target[name as keyof T];
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => pass(String(name), () => member.apply(target, args), args);
    },
  });
}
