import type { SearchHit } from 'agent-session-gateway/client/search';
import { lazy, Suspense, useEffect, useState } from 'react';
import type { View } from './route.js';

/** Something that the palette does. */
export interface Command {
  readonly name: string;
  readonly about?: string;
  /** The places of a search's words in `about`. */
  readonly marks?: SearchHit['marks'];
  readonly run: () => void;
}

export interface PaletteProps {
  readonly sessionId: string;
  readonly views: Readonly<Record<View, string>>;
  readonly actions: readonly Command[];
}

export type Shown = 'commands' | 'keys';

const isWriting = (target: EventTarget | null): boolean =>
  (target as Element | null)?.closest?.('input, textarea, select, [contenteditable]') != null;

const load = () => import('./commands.js');
const PaletteDialog = lazy(async () => ({ default: (await load()).PaletteDialog }));

/** Sessions, views and actions by their names (Ctrl K), and the list of keys (?). */
export function Palette(props: PaletteProps) {
  const [shows, setShows] = useState<Shown>();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, target } = event;
      // It is there by the time that K is pressed, so that what is typed next goes into its box.
      if (key === 'Control' || key === 'Meta') void load();
      const wanted =
        key.toLowerCase() === 'k' && (ctrlKey || metaKey)
          ? 'commands'
          : key === '?' && !isWriting(target)
            ? 'keys'
            : undefined;
      if (!wanted) return;
      event.preventDefault();
      setShows(wanted);
    };
    // Before the search of the list, which has the same key.
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, []);
  return (
    <Suspense fallback={null}>
      {shows && <PaletteDialog {...props} shows={shows} onClose={() => setShows(undefined)} />}
    </Suspense>
  );
}
