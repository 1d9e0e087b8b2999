import { useSearch, useSessions } from 'agent-session-gateway/client/react';
import { Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { plainText } from '../../templates/components/message/plain-text.js';
import { isForInputMethod } from '../../templates/components/ui/keys.js';
import type { Command, PaletteProps, Shown } from './palette.js';
import { hrefOf, VIEWS, type View } from './route.js';

/** Keys of the page, as the list of them says. */
const KEYS = [
  ['/', 'Write a message'],
  ['Enter', 'Send; Shift and Enter begin a line'],
  ['Escape', 'Stop the answer'],
  ['Ctrl K', 'Sessions, what was said, views and actions'],
  ['↑ ↓', 'From message to message, from session to session'],
  ['F2', 'Rename a session'],
  ['?', 'These keys'],
] as const;

/** Messages that the palette shows, and those of the present conversation among them. */
const SAID = 8;
const SAID_HERE = 4;

/** The palette: commands, or the list of keys. */
export function PaletteDialog({
  shows,
  onClose,
  ...props
}: PaletteProps & { readonly shows: Shown; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current!.open) dialog.current!.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="confirm palette"
      aria-label={shows === 'keys' ? 'Keys' : 'Go to'}
      onClose={onClose}
    >
      {shows === 'keys' ? (
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
      ) : (
        <Commands {...props} onDone={() => dialog.current!.close()} />
      )}
    </dialog>
  );
}

function Commands({
  sessionId,
  views,
  actions,
  onDone,
}: PaletteProps & {
  readonly onDone: () => void;
}) {
  const id = useId();
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const query = wanted.trim();
  const { sessions = [] } = useSessions({ ...(query && { query }) });
  const { sessions: latest = [] } = useSessions();
  // A session that has not begun would be answered with an error.
  const isBegun = latest.some((session) => session.sessionId === sessionId);
  const { hits: here } = useSearch(isBegun ? query : '', { limit: SAID_HERE, sessionId });
  const { hits: anywhere } = useSearch(query, { limit: SAID });
  const hits = [...here, ...anywhere.filter((hit) => hit.sessionId !== sessionId)];
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
  const said: readonly Command[] = hits.map(({ sessionId: key, messageId, title, snippet, marks }) => ({
    name: key === sessionId ? 'In this conversation' : (title ?? key),
    about: snippet,
    marks,
    run: () => {
      location.hash = hrefOf({ view: 'chat', sessionId: key, messageId });
    },
  }));
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
  const found = named === '' ? known : [...known, ...said, ofName];
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
        placeholder="Sessions, what was said, views, actions"
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
            {command.about && (
              <small dir="auto">
                <Marked text={command.about} marks={command.marks} />
              </small>
            )}
          </div>
        ))}
      </div>
    </>
  );
}

/** A text with its marked parts. */
function Marked({ text, marks = [] }: { readonly text: string; readonly marks?: Command['marks'] }) {
  const parts = marks.map(([begin, end], at) => (
    <Fragment key={begin}>
      {text.slice(marks[at - 1]?.[1] ?? 0, begin)}
      <mark>{text.slice(begin, end)}</mark>
    </Fragment>
  ));
  return (
    <>
      {parts}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </>
  );
}
