import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** A reader who comes back to the end by so many pixels follows again. */
const NEAR = 48;

/**
 * Keeps a box scrolled to its end while content is added, unless the reader scrolled away. Keeps the place when content is added before `first`.
 *
 * @param content Changes with whatever the box shows.
 * @param first The id of the first message.
 */
export function useStickyEnd(content: unknown, first: string | undefined) {
  const box = useRef<HTMLElement>(null);
  const follows = useRef(true);
  const before = useRef({ first, height: 0, top: 0 });
  const [isAway, setAway] = useState(false);
  const look = useCallback(() => {
    const element = box.current!;
    if (follows.current) element.scrollTop = element.scrollHeight;
    const { scrollTop, scrollHeight, clientHeight } = element;
    before.current.height = scrollHeight;
    before.current.top = scrollTop;
    setAway(scrollHeight - clientHeight - scrollTop > clientHeight / 2);
  }, []);
  const toEnd = useCallback(() => {
    follows.current = true;
    look();
  }, [look]);
  useLayoutEffect(() => {
    const element = box.current!;
    const isEarlier = before.current.first !== first;
    if (isEarlier && !follows.current) element.scrollTop += element.scrollHeight - before.current.height;
    before.current.first = first;
    look();
  }, [content]);
  useEffect(() => {
    const element = box.current!;
    // The place is kept here, and not once more by the browser.
    element.style.overflowAnchor = 'none';
    // The heights of rows and pictures are known only once they are in sight or loaded.
    const sizes = new ResizeObserver(look);
    const parts = new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) if (node instanceof Element) sizes.observe(node);
    });
    for (const child of element.children) sizes.observe(child);
    sizes.observe(element);
    parts.observe(element, { childList: true });
    return () => {
      sizes.disconnect();
      parts.disconnect();
    };
  }, [look]);
  const onScroll = useCallback(() => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    const left = scrollHeight - clientHeight - scrollTop;
    // Content that grew since the box was scrolled is nobody's leaving: only a reader goes up.
    if (scrollTop < before.current.top) follows.current = left < 1;
    else if (left < NEAR) follows.current = true;
    before.current.top = scrollTop;
    setAway(left > clientHeight / 2);
  }, []);
  return { box, isAway, toEnd, onScroll };
}
