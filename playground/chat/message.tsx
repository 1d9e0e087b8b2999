import type { Message, ToolProgress } from 'agent-session-gateway/client';
import { memo, type ReactNode, useState } from 'react';
import { type Changes, MessageActions } from './actions.js';
import { Blocks } from './blocks.js';
import { Outcome } from './outcome.js';

const WHO: Record<string, string> = { user: 'You', assistant: 'Answer', system: 'System', tool: 'Tool' };

/** One message of the conversation, and below it what it is waiting for, how it ended, and what can be done with it. */
export const MessageRow = memo(function MessageRow({
  message,
  app,
  progress,
  growing = false,
  changes,
  isLast = false,
  children,
}: {
  readonly message: Message;
  readonly app?: string | undefined;
  readonly progress?: Readonly<Record<string, ToolProgress>> | undefined;
  /** Whether it is still being written. */
  readonly growing?: boolean;
  /** How it can be changed, where it is part of the conversation. */
  readonly changes?: Changes | undefined;
  /** The last one shows what can be done with it also where no pointer and no focus is. */
  readonly isLast?: boolean;
  readonly children?: ReactNode;
}) {
  const [active, setActive] = useState(false);
  const [pinned, setPinned] = useState(false);
  const { role, content, senderId, createdAt } = message;
  const name = senderId ?? message.app ?? app;
  return (
    <li
      className={`message ${role}`}
      aria-busy={growing}
      tabIndex={isLast ? 0 : -1}
      onPointerEnter={() => setActive(true)}
      onPointerLeave={({ currentTarget }) => setActive(currentTarget.contains(document.activeElement))}
      onFocus={() => setActive(true)}
      onBlur={({ currentTarget, relatedTarget }) =>
        setActive(currentTarget.contains(relatedTarget) || currentTarget.matches(':hover'))
      }
    >
      <h2 className={role === 'user' && !senderId ? 'unseen' : 'who'}>
        <span className={name === undefined ? '' : 'unseen'}>{WHO[role] ?? role} </span>
        {name}
      </h2>
      <div className="content">
        <Blocks content={content} progress={progress} plain={role === 'user'} />
        {growing && <span className={content.length === 0 ? 'thinking' : 'caret'} aria-hidden="true" />}
        {children}
      </div>
      <div className="foot">
        <Outcome message={message} />
        {changes && (
          <MessageActions
            message={message}
            changes={changes}
            shown={active || pinned || isLast}
            onPin={setPinned}
          />
        )}
        {active && createdAt > 0 && (
          <time>{new Date(createdAt).toLocaleTimeString([], { timeStyle: 'short' })}</time>
        )}
      </div>
    </li>
  );
});
