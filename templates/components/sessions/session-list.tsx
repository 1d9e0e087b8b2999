import { useGateway, useSessions } from 'agent-session-gateway/client/react';
import { type KeyboardEvent, useEffect, useState } from 'react';

interface SessionListProps {
  /** The key of the session that is shown. */
  readonly current: string;
  readonly onOpen: (id: string) => void;
}

/** Other tabs, and programs, change the list too. */
const REFRESH_MS = 5000;

/** The user's sessions, the one that was used last first: found by their titles, opened, begun, renamed in place, archived. */
export function SessionList({ current, onOpen }: SessionListProps) {
  const [query, setQuery] = useState('');
  const { sessions, hasMore, loadMore, refresh, error } = useSessions({ ...(query && { query }) });
  const client = useGateway();
  const [renames, setRenames] = useState('');
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const timer = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(timer);
  }, [refresh]);

  const update = (id: string, changes: { title?: string | null; archived?: boolean }) => {
    setRenames('');
    setProblem('');
    client
      .session(id)
      .update(changes)
      .then(refresh, (cause: Error) => setProblem(cause.message));
  };
  const onKeyDown = (id: string) => (event: KeyboardEvent<HTMLInputElement>) => {
    // An input method takes its word by Enter, too. Safari says so by the code alone.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === 'Enter') update(id, { title: event.currentTarget.value.trim() || null });
    if (event.key === 'Escape') setRenames('');
  };

  return (
    <nav className="sessions" aria-label="Sessions">
      <button type="button" onClick={() => onOpen(`chat-${Date.now().toString(36)}`)}>
        New session
      </button>
      <input
        type="search"
        aria-label="Find a session"
        placeholder="Find a session"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      {(error || problem) && <p role="alert">{error?.message ?? problem}</p>}
      <ul>
        {sessions?.map(({ sessionId, title = sessionId, preview, status }) => (
          <li key={sessionId} data-status={status}>
            {renames === sessionId ? (
              <input
                aria-label={`Title of ${sessionId}`}
                defaultValue={title}
                ref={(box) => box?.focus()}
                onKeyDown={onKeyDown(sessionId)}
                onBlur={() => setRenames('')}
              />
            ) : (
              <button
                type="button"
                aria-current={sessionId === current ? 'page' : undefined}
                onClick={() => onOpen(sessionId)}
              >
                <span dir="auto">{title}</span>
                {preview && <small dir="auto">{preview}</small>}
              </button>
            )}
            <button type="button" aria-label={`Rename ${title}`} onClick={() => setRenames(sessionId)}>
              Rename
            </button>
            <button
              type="button"
              aria-label={`Archive ${title}`}
              onClick={() => update(sessionId, { archived: true })}
            >
              Archive
            </button>
          </li>
        ))}
      </ul>
      {sessions?.length === 0 && <p>{query ? `No title has “${query}”.` : 'No sessions yet.'}</p>}
      {hasMore && (
        <button type="button" onClick={loadMore}>
          More
        </button>
      )}
    </nav>
  );
}
