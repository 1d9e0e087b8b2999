import { useCallback, useLayoutEffect, useRef } from 'react';

const NEAR = 48;

/** Keeps a box at its end while things are added there, unless somebody has scrolled away from it. */
export function useStickyEnd(content: unknown) {
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown has changed
  useLayoutEffect(() => {
    const element = box.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [content]);
  const onScroll = useCallback(() => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    atEnd.current = scrollHeight - clientHeight - scrollTop < NEAR;
  }, []);
  return { box, onScroll };
}
