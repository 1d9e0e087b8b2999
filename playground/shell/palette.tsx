import { useSessions } from 'agent-session-gateway/client/react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { plainText } from '../../templates/components/message/plain-text.js';
import { isForInputMethod } from '../../templates/components/ui/keys.js';
import { hrefOf, VIEWS, type View } from './route.js';

/** Something that the palette does. */
export interface Command {
  readonly name: string;
  readonly about?: string;
  readonly run: () => void;
}

/** Keys of the page, as the list of them says. */
const KEYS = [
  ['/', 'Write a message'],
  ['Enter', 'Send; Shift and Enter begin a line'],
  ['Escape', 'Stop the answer'],
  ['Ctrl K', 'Sessions, views and actions'],
  ['↑ ↓', 'From message to message, from session to session'],
  ['F2', 'Rename a session'],
  ['?', 'These keys'],
] as const;

const isWriting = (target: EventTarget | null): boolean =>
  (target as Element | null)?.closest?.('input, textarea, select, [contenteditable]') != null;

/** Sessions, views and actions by their names (Ctrl K), and the list of keys (?). */
export function Palette({
  sessionId,
  views,
  actions,
}: {
  readonly sessionId: string;
  readonly views: Readonly<Record<View, string>>;
  readonly actions: readonly Command[];
}) {
  const [shows, setShows] = useState<'commands' | 'keys'>();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const { key, ctrlKey, metaKey, target } = event;
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
  useEffect(() => {
    if (shows && !dialog.current!.open) dialog.current!.showModal();
  }, [shows]);
  const close = () => dialog.current!.close();
  return (
    <dialog
      ref={dialog}
      className="confirm palette"
      aria-label={shows === 'keys' ? 'Keys' : 'Go to'}
      onClose={() => setShows(undefined)}
    >
      {shows === 'keys' && (
        <>
          <h2>Keys</h2>
          <dl className="fields">
            {KEYS.map(([key, does]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <form method="dialog" className="row end">
            <button type="submit">Close</button>
          </form>
        </>
      )}
      {shows === 'commands' && (
        <Commands sessionId={sessionId} views={views} actions={actions} onDone={close} />
      )}
    </dialog>
  );
}

function Commands({
  sessionId,
  views,
  actions,
  onDone,
}: {
  readonly sessionId: string;
  readonly views: Readonly<Record<View, string>>;
  readonly actions: readonly Command[];
  readonly onDone: () => void;
}) {
  const id = useId();
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const query = wanted.trim();
  const { sessions = [] } = useSessions({ ...(query && { query }) });
  const open = (view: View, to: string) => () => {
    location.hash = hrefOf({ view, sessionId: to });
  };
  const all: readonly Command[] = [
    ...sessions.map(({ sessionId: key, title, preview }) => ({
      name: title ?? key,
      about: plainText(preview ?? ''),
      run: open('chat', key),
    })),
    ...VIEWS.map((view) => ({ name: views[view], about: 'View', run: open(view, sessionId) })),
    ...actions,
  ];
  const named = query.replace(/[^\w.:@+-]+/g, '-');
  const ofName: Command = {
    name: `Open “${named}”`,
    about: 'A session of this name',
    run: open('chat', named),
  };
  const words = query.toLowerCase();
  const known = all
    .filter(({ name, about = '' }) => `${name} ${about}`.toLowerCase().includes(words))
    .slice(0, 12);
  const found = named === '' ? known : [...known, ofName];
  const chosen = Math.min(at, found.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onDone();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isForInputMethod(event)) return;
    const next = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (event.key === 'Enter') run(found[chosen]);
    else if (next === undefined) return;
    else setAt((next + found.length) % Math.max(1, found.length));
    event.preventDefault();
  };
  return (
    <>
      <input
        role="combobox"
        aria-label="Find a session, a view or an action"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id} ${chosen}` : undefined}
        placeholder="Sessions, views, actions"
        autoComplete="off"
        value={wanted}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
        autoFocus
        onChange={({ target }) => {
          setWanted(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label="Found" className="found">
        {found.map((command, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the box
          <div
            key={`${command.name} ${place}`}
            id={`${id} ${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            onClick={() => run(command)}
          >
            <span dir="auto">{command.name}</span>
            {command.about && <small dir="auto">{command.about}</small>}
          </div>
        ))}
      </div>
    </>
  );
}
