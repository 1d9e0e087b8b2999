import { readWhileVisible } from 'agent-session-gateway/client/inbox';
import { useGateway, useInbox, useSession } from 'agent-session-gateway/client/react';
import { useEffect, useState } from 'react';
import { useAround } from '../ui/around.js';
import { isOverseen } from '../ui/session-id.js';

interface InboxProps {
  readonly onOpen: (id: string) => void;
  /** The session on show: what comes there counts as read while the page is visible. */
  readonly current?: string;
}

/** Notes that a session is read while it is shown. One that has not begun is not noted, and neither is one of somebody who did not share it. */
function Reading({ id }: { readonly id: string }) {
  const client = useGateway();
  const hasBegun = useSession(id, { select: ({ messages }) => messages.length > 0 });
  const isNoted = hasBegun && !isOverseen(id);
  useEffect(() => (isNoted ? readWhileVisible(client, id) : undefined), [client, id, isNoted]);
  return null;
}

/** The user's sessions in which something waits, on whichever device: unread answers, open questions, runs under way. */
export function Inbox({ onOpen, current }: InboxProps) {
  const { readOnly } = useAround();
  const { sessions, unread, waiting, isLoading, read, error } = useInbox();
  const [problem, setProblem] = useState('');

  const rows = sessions.filter((row) => row.unread + row.waiting > 0 || row.running);
  const note = (ids: readonly string[]) => {
    setProblem('');
    Promise.all(ids.map((id) => read(id))).catch((cause: Error) => setProblem(cause.message));
  };
  const failure = error instanceof Error ? error.message : problem;

  return (
    <section className="asg inbox" aria-label="Inbox" aria-busy={isLoading}>
      {current && <Reading id={current} />}
      <header>
        <p role="status">
          {unread + waiting > 0 ? `${unread} unread, ${waiting} for you to answer` : 'Everything is read.'}
        </p>
        {unread > 0 && !readOnly && (
          <button
            type="button"
            onClick={() => note(rows.filter((row) => row.unread > 0).map(({ sessionId }) => sessionId))}
          >
            Mark all as read
          </button>
        )}
      </header>
      {failure && <p role="alert">{failure}</p>}
      <ul>
        {rows.map(({ sessionId, title = sessionId, unread: count, waiting: questions, running }) => (
          <li key={sessionId} data-unread={count > 0} data-waiting={questions > 0}>
            <button
              type="button"
              aria-current={sessionId === current ? 'page' : undefined}
              onClick={() => onOpen(sessionId)}
            >
              <span dir="auto">{title}</span>
              <small>
                {[questions > 0 && 'waits for you', count > 0 && `${count} unread`, running && 'at work']
                  .filter(Boolean)
                  .join(', ')}
              </small>
            </button>
            {count > 0 && !readOnly && (
              <button type="button" aria-label={`Mark ${title} as read`} onClick={() => note([sessionId])}>
                Read
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
