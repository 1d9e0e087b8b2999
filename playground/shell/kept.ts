import { useState } from 'react';

/** State for a person's choice, which this tab keeps. */
export function useKept<T extends string>(name: string, start: T): [T, (value: T) => void] {
  const key = `agent-session-gateway ${name}`;
  const [value, setValue] = useState(() => (sessionStorage.getItem(key) as T | null) ?? start);
  const keep = (next: T) => {
    sessionStorage.setItem(key, next);
    setValue(next);
  };
  return [value, keep];
}
