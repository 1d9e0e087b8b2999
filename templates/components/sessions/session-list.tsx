import type { EventType, SessionSummary } from 'agent-session-gateway/client';
import { useInbox, useSession, useSessionEvents, useSessions } from 'agent-session-gateway/client/react';
import { Archive, TriangleAlert, UsersRound } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { Beside, useAround } from '../ui/around.js';
import { IconButton } from '../ui/icon-button.js';
import { byDay } from './days.js';
import { type Attempt, Entry } from './entry.js';
import { NewSession } from './new-session.js';
import { SearchBox } from './search-box.js';

/** Interval of reads, in milliseconds, because other tabs and programs change the list too. */
const REFRESH_MS = 5000;

/** Events that change the list entry of the shown session. */
const CHANGES: readonly EventType[] = [
  'message_accepted',
  'message_start',
  'message_end',
  'tool_confirmation_required',
  'tool_confirmation_result',
  'input_required',
  'input_result',
  'session_updated',
  'session_closed',
];

interface SessionListProps {
  /** The key of the session that is shown. */
  readonly current: string;
  readonly onOpen: (id: string) => void;
  /** The address of a session in this page, so that it can be opened in another tab. */
  readonly hrefOf?: (id: string) => string;
  /** Whether the user may read the sessions of all users, as `client.status()` says (`oversees`): a button lists those. */
  readonly oversees?: boolean | undefined;
  /** Further items of a session's menu: `MenuItem`. */
  readonly menu?: (session: SessionSummary, attempt: Attempt) => ReactNode;
  /** Further controls at the end. */
  readonly children?: ReactNode;
}

/** The user's sessions by day: found by any of their words, opened, begun, renamed in place, archived, closed, deleted. */
export function SessionList({ current, onOpen, hrefOf, oversees, menu, children }: SessionListProps) {
  const { readOnly } = useAround();
  const [all, setAll] = useState(false);
  const [failures, setFailures] = useState(false);
  const [archived, setArchived] = useState(false);
  const [wanted, setWanted] = useState('');
  const query = useSettled(wanted.trim());
  const listed = { archived, all, failed: all && failures };
  const { sessions, hasMore, loadMore, refresh, error } = useSessions(listed);
  // Searches titles beyond the part of the list that was read. Without a query it reads only one session.
  const found = useSessions({ ...listed, ...(query === '' ? { limit: 1 } : { query }) });
  const [focused, setFocused] = useState<string>();
  const inbox = useInbox();
  const unread = new Map(inbox.sessions.map((row) => [row.sessionId, row.unread]));
  useSessionEvents(current, refresh, { types: CHANGES, from: 'now', onError: () => {} });
  useEffect(() => {
    const look = () => document.visibilityState === 'visible' && refresh();
    const timer = setInterval(look, REFRESH_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [refresh]);

  const open = (id: string) => {
    setWanted('');
    onOpen(id);
  };
  const shown = query === '' ? (sessions ?? []) : matching(sessions ?? [], found.sessions ?? [], query);
  // The list is one stop of the Tab key: arrows go on from there.
  const stop =
    [focused, current].find((id) => shown.some(({ sessionId }) => sessionId === id)) ?? shown[0]?.sessionId;
  const isEmpty = useSession(current, {
    select: ({ messages, status }) => status !== 'loading' && messages.length === 0,
  });
  const isNew =
    isEmpty && sessions?.every((each) => each.sessionId !== current) && !archived && !all && query === '';
  return (
    <nav className="asg sessions" aria-label="Sessions" onKeyDown={moveBetweenEntries}>
      {!readOnly && <NewSession onBegin={open} />}
      <SearchBox wanted={wanted} onWanted={setWanted} onOpen={open} />
      <Beside does="list the sessions" />
      {error && (
        <p className="bad" role="alert">
          {error.message}
        </p>
      )}
      {sessions === undefined && !error && <Loading />}
      <div className="days">
        {isNew && (
          <section aria-label="New">
            <ul>
              <li className="entry shown">
                <p className="opener" title={current}>
                  <span className="name">New session</span>
                  <small>new</small>
                </p>
              </li>
            </ul>
          </section>
        )}
        {byDay(shown, Date.now()).map((day) => (
          <section key={day.name} aria-label={day.name}>
            <h2>{day.name}</h2>
            <ul>
              {day.sessions.map((session) => (
                <Entry
                  key={session.sessionId}
                  session={session}
                  unread={session.sessionId === current ? 0 : (unread.get(session.sessionId) ?? 0)}
                  isShown={session.sessionId === current}
                  isStop={session.sessionId === stop}
                  onFocus={() => setFocused(session.sessionId)}
                  href={hrefOf?.(session.sessionId)}
                  onOpen={() => open(session.sessionId)}
                  onChanged={() => {
                    refresh();
                    found.refresh();
                  }}
                  menu={menu}
                />
              ))}
            </ul>
          </section>
        ))}
        {sessions && shown.length === 0 && query !== '' && (
          <p className="muted">
            Nothing is called “{query}”.{!readOnly && ' Enter opens a session of this name.'}
          </p>
        )}
        {sessions?.length === 0 && query === '' && (archived || listed.failed) && (
          <p className="muted">{listed.failed ? 'Nothing has failed.' : 'Nothing is archived.'}</p>
        )}
        {hasMore && query === '' && (
          <button type="button" className="quiet" onClick={loadMore}>
            More
          </button>
        )}
      </div>
      <div className="row tray">
        <IconButton
          label="Archive"
          icon={Archive}
          className={archived ? 'on' : ''}
          aria-pressed={archived}
          onClick={() => setArchived((before) => !before)}
        />
        {oversees && (
          <IconButton
            label="Sessions of all users"
            icon={UsersRound}
            className={all ? 'on' : ''}
            aria-pressed={all}
            onClick={() => setAll((before) => !before)}
          />
        )}
        {all && (
          <IconButton
            label="Those that failed"
            icon={TriangleAlert}
            className={failures ? 'on' : ''}
            aria-pressed={failures}
            onClick={() => setFailures((before) => !before)}
          />
        )}
        {children}
      </div>
    </nav>
  );
}

/** Moves the focus between sessions by the arrows, Home and End. */
function moveBetweenEntries(event: KeyboardEvent<HTMLElement>): void {
  const opener = event.target as HTMLElement;
  if (!opener.matches('.opener')) return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('.entry .opener:not(p)')];
  const at = all.indexOf(opener);
  const next = { ArrowUp: all[at - 1], ArrowDown: all[at + 1], Home: all[0], End: all.at(-1) }[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** The known sessions that match in any text, and the sessions that the gateway found by title. */
function matching(
  known: readonly SessionSummary[],
  found: readonly SessionSummary[],
  query: string,
): readonly SessionSummary[] {
  const wanted = query.toLowerCase();
  const here = known.filter(({ sessionId, title = '', preview = '' }) =>
    `${sessionId} ${title} ${preview}`.toLowerCase().includes(wanted),
  );
  const ids = new Set(here.map(({ sessionId }) => sessionId));
  return [...here, ...found.filter(({ sessionId, title }) => title && !ids.has(sessionId))].sort(
    (one, other) => other.updatedAt - one.updatedAt,
  );
}

function Loading() {
  return (
    <div className="skeleton lines" role="status" aria-label="Loading the sessions">
      <i />
      <i />
      <i />
    </div>
  );
}

/** The text, once the person has stopped typing for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
