import { type RefObject, useEffect, useRef } from 'react';

interface Loaded {
  readonly messages: readonly { readonly id: string }[];
  readonly hasMore: boolean;
  loadEarlier(): Promise<unknown>;
}

/** Brings a message into sight once, such as one that a search has found, and loads earlier ones until it is there. */
export function useShownMessage(
  box: RefObject<HTMLElement | null>,
  wanted: string | undefined,
  { messages, hasMore, loadEarlier }: Loaded,
): void {
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (wanted === undefined || shown.current === wanted || messages.length === 0) return;
    const rows = box.current!.querySelectorAll<HTMLElement>('[data-message]');
    const row = [...rows].find(({ dataset }) => dataset.message === wanted);
    if (row) {
      shown.current = wanted;
      row.scrollIntoView({ block: 'center' });
      row.focus({ preventScroll: true });
    } else if (hasMore) void loadEarlier().catch(() => {});
  }, [box, wanted, messages, hasMore, loadEarlier]);
}
