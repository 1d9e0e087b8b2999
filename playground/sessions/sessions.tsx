import type { EventType, SessionSummary } from 'agent-session-gateway/client';
import { useInbox, useSessionEvents, useSessions } from 'agent-session-gateway/client/react';
import { Archive } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Code } from '../shell/code.js';
import { sessionsRecipe } from '../shell/recipes.js';
import { hrefOf, type Route } from '../shell/route.js';
import { settings } from '../shell/settings.js';
import { IconButton } from '../ui/icon-button.js';
import { byDay } from './days.js';
import { Entry } from './entry.js';
import { Import } from './import.js';
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

/** The user's sessions by day, with search and controls. */
export function Sessions({ route, onChosen }: { readonly route: Route; readonly onChosen: () => void }) {
  const [archived, setArchived] = useState(false);
  const [wanted, setWanted] = useState('');
  const query = useSettled(wanted.trim());
  const { sessions, hasMore, loadMore, refresh, error } = useSessions({ archived });
  // Searches titles beyond the part of the list that was read. Without a query it reads only one session.
  const found = useSessions({ archived, ...(query === '' ? { limit: 1 } : { query }) });
  const inbox = useInbox();
  const unread = new Map(inbox.sessions.map((row) => [row.sessionId, row.unread]));
  const { sessionId, view } = route;
  useSessionEvents(sessionId, refresh, { types: CHANGES, from: 'now', onError: () => {} });
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
    onChosen();
    location.hash = hrefOf({ view, sessionId: id });
  };
  const shown = query === '' ? (sessions ?? []) : matching(sessions ?? [], found.sessions ?? [], query);
  const isNew = sessions?.every((each) => each.sessionId !== sessionId) && !archived && query === '';
  return (
    <nav className="sessions" aria-label="Sessions">
      {!settings.readOnly && <NewSession onBegin={open} />}
      <SearchBox wanted={wanted} onWanted={setWanted} onOpen={open} />
      <Code what="list the sessions" of={sessionsRecipe} />
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
                <a href={hrefOf(route)} aria-current="page" title={sessionId} onClick={onChosen}>
                  <span className="name">{sessionId}</span>
                  <small>new</small>
                </a>
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
                  unread={session.sessionId === sessionId ? 0 : (unread.get(session.sessionId) ?? 0)}
                  isShown={session.sessionId === sessionId}
                  href={hrefOf({ view, sessionId: session.sessionId })}
                  onChosen={onChosen}
                  onChanged={refresh}
                />
              ))}
            </ul>
          </section>
        ))}
        {sessions && shown.length === 0 && query !== '' && (
          <p className="muted">
            Nothing is called “{query}”.{!settings.readOnly && ' Enter opens a session of this name.'}
          </p>
        )}
        {sessions?.length === 0 && query === '' && archived && <p className="muted">Nothing is archived.</p>}
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
        {!settings.readOnly && (
          <Import
            onImported={(imported) => {
              refresh();
              open(imported);
            }}
          />
        )}
      </div>
    </nav>
  );
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
