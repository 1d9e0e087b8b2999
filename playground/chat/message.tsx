import type { Message, ToolProgress } from 'agent-session-gateway/client';
import { memo, type ReactNode } from 'react';
import { type Changes, MessageActions } from './actions.js';
import { Blocks } from './blocks.js';
import { Outcome } from './outcome.js';

const WHO: Record<string, string> = { user: 'You', assistant: 'Answer', system: 'System', tool: 'Tool' };

/** One message of the conversation, and below it what it is waiting for or how it ended. */
export const MessageRow = memo(function MessageRow({
  message,
  app,
  progress,
  growing = false,
  changes,
  children,
}: {
  readonly message: Message;
  readonly app?: string | undefined;
  readonly progress?: Readonly<Record<string, ToolProgress>> | undefined;
  /** Whether it is still being written. */
  readonly growing?: boolean;
  /** How it can be changed, where it is part of the conversation. */
  readonly changes?: Changes | undefined;
  readonly children?: ReactNode;
}) {
  const { role, content, senderId } = message;
  const isEmpty = content.length === 0;
  return (
    <li className={`message ${role}`} aria-busy={growing}>
      <h3 className="who">
        {WHO[role] ?? role}
        {(senderId ?? message.app ?? app) && <small>{senderId ?? message.app ?? app}</small>}
      </h3>
      <div className="content">
        <Blocks content={content} progress={progress} plain={role === 'user'} />
        {growing && <span className={isEmpty ? 'thinking' : 'caret'} aria-hidden="true" />}
        <Outcome message={message} />
        {children}
      </div>
      {changes && <MessageActions message={message} changes={changes} />}
    </li>
  );
});
