import { Search } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { isForInputMethod } from '../ui/keys.js';

/** Searches sessions by text, and opens the session of that name, also a new one. */
export function SearchBox({
  wanted,
  onWanted,
  onOpen,
}: {
  readonly wanted: string;
  readonly onWanted: (wanted: string) => void;
  readonly onOpen: (sessionId: string) => void;
}) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey))
        return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <search className="search">
      <Search aria-hidden="true" />
      <input
        ref={box}
        type="search"
        aria-label="Find a session, or open one by its name"
        aria-keyshortcuts="Control+K Meta+K"
        placeholder="Find a session"
        value={wanted}
        onChange={({ target }) => onWanted(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !isForInputMethod(event) && wanted.trim() !== '')
            onOpen(keyOf(wanted));
        }}
      />
      <span className="keys" suppressHydrationWarning>
        {/Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent) ? '⌘K' : 'Ctrl K'}
      </span>
    </search>
  );
}

/** Makes a session key from a text. */
function keyOf(text: string): string {
  return text.trim().replace(/[^\w.:@+-]+/g, '-');
}
