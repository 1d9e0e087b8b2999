/** A promise that the test resolves. */
export interface Gate<T = void> {
  readonly passed: Promise<T>;
  open(value: T): void;
}

export function gate<T = void>(): Gate<T> {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Gates by their names, each made when somebody asks for it. */
export function gatesByName(): (name: string) => Gate {
  const gates = new Map<string, Gate>();
  return (name) => {
    const known = gates.get(name) ?? gate();
    gates.set(name, known);
    return known;
  };
}
