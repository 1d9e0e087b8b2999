import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const NEAR = 48;

/** Keeps a box scrolled to its end while content is added, unless the person scrolled away. Keeps the place when content is added before `first`. */
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
    // The heights of rows and pictures are known only once they are in sight or loaded.
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
