import { useInbox } from 'agent-session-gateway/client/react';
import { Bell as BellIcon } from 'lucide-react';
import { useState } from 'react';
import { Code } from '../shell/code.js';
import { inboxRecipe } from '../shell/recipes.js';
import { hrefOf } from '../shell/route.js';
import { IconButton } from '../ui/icon-button.js';

/** How much waits in all sessions, and the list of those in which anything does. */
export function Bell() {
  const { sessions, unread, waiting } = useInbox();
  const [isOpen, setOpen] = useState(false);
  const total = unread + waiting;
  const rows = sessions.filter((row) => row.unread + row.waiting > 0);
  return (
    <span className="bell">
      <IconButton
        label={total > 0 ? `Inbox, ${total} new` : 'Inbox'}
        icon={BellIcon}
        aria-expanded={isOpen}
        onClick={() => setOpen((before) => !before)}
      />
      {total > 0 && (
        <span className="count" aria-hidden="true">
          {total > 99 ? '99+' : total}
        </span>
      )}
      {isOpen && (
        <section className="inbox" aria-label="Inbox">
          {rows.length === 0 && <p className="muted">Everything is read.</p>}
          <ul>
            {rows.map(({ sessionId, title, unread: count, waiting: questions }) => (
              <li key={sessionId}>
                <a href={hrefOf({ view: 'chat', sessionId })} onClick={() => setOpen(false)}>
                  <span className="name" dir="auto">
                    {title ?? sessionId}
                  </span>
                  <small>
                    {[count > 0 && `${count} unread`, questions > 0 && 'waits for you']
                      .filter(Boolean)
                      .join(', ')}
                  </small>
                </a>
              </li>
            ))}
          </ul>
          <Code what="read the inbox" of={inboxRecipe} />
        </section>
      )}
    </span>
  );
}
