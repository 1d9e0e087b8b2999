import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const NEAR = 48;

/**
 * Keeps a box at its end while things are added there, unless somebody has scrolled away from it, and where it is while things are added
 * before the `first`.
 */
export function useStickyEnd(content: unknown, first: string | undefined) {
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  const before = useRef({ first, height: 0 });
  const [isAway, setAway] = useState(false);
  const toEnd = useCallback(() => {
    const element = box.current!;
    element.scrollTop = element.scrollHeight;
    atEnd.current = true;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown has changed
  useLayoutEffect(() => {
    const element = box.current!;
    if (atEnd.current) toEnd();
    else if (before.current.first !== first)
      element.scrollTop += element.scrollHeight - before.current.height;
    if (before.current.first !== first || !atEnd.current)
      before.current = { first, height: element.scrollHeight };
  }, [content]);
  useEffect(() => {
    // Rows that come into sight, and pictures that arrive, are as high as they turn out to be.
    const watcher = new ResizeObserver(() => atEnd.current && toEnd());
    for (const child of box.current!.children) watcher.observe(child);
    watcher.observe(box.current!);
    return () => watcher.disconnect();
  }, [toEnd]);
  const onScroll = useCallback(() => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    atEnd.current = scrollHeight - clientHeight - scrollTop < NEAR;
    setAway(scrollHeight - clientHeight - scrollTop > clientHeight / 2);
  }, []);
  return { box, isAway, toEnd, onScroll };
}
