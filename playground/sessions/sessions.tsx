import type { EventType } from 'agent-session-gateway/client';
import { useSessionEvents, useSessions } from 'agent-session-gateway/client/react';
import { type FormEvent, useEffect, useState } from 'react';
import { useApps } from '../shell/catalogue.js';
import { Recipe } from '../shell/recipe.js';
import { sessionsRecipe } from '../shell/recipes.js';
import { hrefOf, type Route } from '../shell/route.js';
import { settings } from '../shell/settings.js';
import { ImportSession } from './import-session.js';
import { SessionTools } from './session-tools.js';

/** Other tabs, and programs, change the list too. */
const REFRESH_MS = 5000;

/** What changes what the list says of the session that is shown. */
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

/** The user's sessions. */
export function Sessions({ route, onChosen }: { readonly route: Route; readonly onChosen: () => void }) {
  const [archived, setArchived] = useState(false);
  const { sessions, hasMore, loadMore, refresh, error } = useSessions({ archived });
  const [wanted, setWanted] = useState('');
  const { sessionId, view } = route;
  useSessionEvents(sessionId, refresh, {
    types: CHANGES,
    from: 'now',
    onError: () => {},
  });
  useEffect(() => {
    const look = () => document.visibilityState === 'visible' && refresh();
    const timer = setInterval(look, REFRESH_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [refresh]);

  const shown = (sessions ?? []).filter(({ sessionId: id, title = '', preview = '' }) =>
    `${id} ${title} ${preview}`.toLowerCase().includes(wanted.toLowerCase()),
  );

  const current = sessions?.find((each) => each.sessionId === sessionId);
  const isNew = sessions !== undefined && !archived && !current;
  return (
    <nav className="sessions" aria-label="Sessions">
      <div className="row">
        <h2>Sessions</h2>
        <span className="space" />
        <button
          type="button"
          className="quiet"
          aria-pressed={archived}
          onClick={() => setArchived((before) => !before)}
        >
          Archive
        </button>
        <Recipe {...sessionsRecipe()} />
      </div>
      {(sessions?.length ?? 0) > 5 && (
        <input
          type="search"
          aria-label="Find a session"
          placeholder="Find a session"
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
      )}
      {error && <p className="bad">{error.message}</p>}
      <ul>
        {isNew && <Entry id={sessionId} status="new" isShown href={hrefOf(route)} onChosen={onChosen} />}
        {shown.map(({ sessionId: id, status, title, preview, updatedAt }) => (
          <Entry
            key={id}
            id={id}
            status={status}
            title={title}
            preview={preview}
            at={updatedAt}
            isShown={id === sessionId}
            href={hrefOf({ view, sessionId: id })}
            onChosen={onChosen}
          />
        ))}
      </ul>
      {(sessions?.length ?? 0) === 0 && archived && <p className="muted">Nothing is archived.</p>}
      {hasMore && (
        <button type="button" className="quiet" onClick={loadMore}>
          More
        </button>
      )}
      {!settings.readOnly && <NewSession view={view} onChosen={onChosen} />}
      {!settings.readOnly && (
        <ImportSession
          onImported={(imported) => {
            refresh();
            onChosen();
            location.hash = hrefOf({ view, sessionId: imported });
          }}
        />
      )}
      {!settings.readOnly && current && (
        <SessionTools key={sessionId} sessionId={sessionId} session={current} onChanged={refresh} />
      )}
    </nav>
  );
}

function Entry({
  id,
  status,
  title,
  preview,
  at,
  isShown,
  href,
  onChosen,
}: {
  readonly id: string;
  readonly status: string;
  readonly title?: string | undefined;
  readonly preview?: string | undefined;
  readonly at?: number;
  readonly isShown: boolean;
  readonly href: string;
  readonly onChosen: () => void;
}) {
  return (
    <li>
      <a href={href} aria-current={isShown ? 'page' : undefined} onClick={onChosen}>
        <span className={`dot ${status}`} aria-hidden="true" />
        <span className="name" title={id}>
          {title ?? id}
          {preview && <span className="preview">{preview}</span>}
        </span>
        <small>{status === 'idle' && at ? timeOf(at) : status}</small>
      </a>
    </li>
  );
}

function timeOf(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString([], { month: 'short', day: 'numeric' });
}

function NewSession({ view, onChosen }: Pick<Route, 'view'> & { readonly onChosen: () => void }) {
  const apps = useApps();
  const [app, setApp] = useState('');
  const [name, setName] = useState('');
  const begin = (event: FormEvent) => {
    event.preventDefault();
    const named = name.trim() || `chat-${Date.now().toString(36)}`;
    setName('');
    onChosen();
    location.hash = hrefOf({ view, sessionId: app ? `${app}:${named}` : named });
  };
  return (
    <form className="new" onSubmit={begin}>
      {apps && apps.length > 1 && (
        <select
          aria-label="App of the new session"
          value={app}
          onChange={({ target }) => setApp(target.value)}
        >
          {apps.map(({ name: each, isDefault }) => (
            <option key={each} value={isDefault ? '' : each}>
              {each}
            </option>
          ))}
        </select>
      )}
      <input
        aria-label="Name of the new session"
        placeholder="New session"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit">Open</button>
    </form>
  );
}
