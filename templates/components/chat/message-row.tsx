import type { Message, PendingQuestion, ToolProgress } from 'agent-session-gateway/client';
import { memo, type ReactNode, useState } from 'react';
import { Blocks } from '../message/blocks.js';
import { Markdown } from '../message/markdown.js';
import { Outcome } from '../message/outcome.js';
import { PastRuns } from '../runs/past-runs.js';
import { Boundary } from '../ui/boundary.js';
import { Json } from '../ui/json.js';
import { type Changes, MessageActions } from './actions.js';

const WHO: Record<string, string> = { user: 'You', assistant: 'Answer', system: 'System', tool: 'Tool' };

/** A message of the conversation, with pending questions, outcome and actions below. */
export const MessageRow = memo(function MessageRow({
  message,
  app,
  progress,
  pending,
  growing = false,
  changes,
  onRun,
  isLast = false,
  edits = false,
  children,
}: {
  readonly message: Message;
  readonly app?: string | undefined;
  readonly progress?: Readonly<Record<string, ToolProgress>> | undefined;
  readonly pending?: readonly PendingQuestion[] | undefined;
  /** Whether the message is still growing. */
  readonly growing?: boolean;
  /** Operations on the message, if it is part of the conversation. */
  readonly changes?: Changes | undefined;
  /** Shows the run of an answer. */
  readonly onRun?: ((message: Message) => void) | undefined;
  /** Whether this is the last message, which shows its actions even without pointer or focus. */
  readonly isLast?: boolean;
  /** Whether somebody is changing it. */
  readonly edits?: boolean;
  readonly children?: ReactNode;
}) {
  const [active, setActive] = useState(false);
  const { role, content, senderId, createdAt, compaction } = message;
  const name = senderId ?? message.app ?? app;
  return (
    <li
      className={`message ${role}`}
      data-message={message.id}
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
      <div className={`content ${growing && content.length > 0 ? 'growing' : ''}`}>
        <Boundary subject={content} fallback={() => <Unshown content={content} />}>
          <Blocks
            content={content}
            progress={progress}
            pending={pending}
            stopReason={message.stopReason}
            plain={role === 'user'}
          />
        </Boundary>
        {growing && content.length === 0 && <span className="thinking" aria-hidden="true" />}
        {children}
        <PastRuns message={message} />
      </div>
      <div className="foot">
        <Outcome message={message} />
        {changes && (
          <MessageActions
            message={message}
            changes={changes}
            shown={active || edits || isLast}
            edits={edits}
            onRun={onRun}
          />
        )}
        {active && createdAt > 0 && (role === 'user' || message.stopReason !== undefined) && (
          <time>{new Date(createdAt).toLocaleTimeString([], { timeStyle: 'short' })}</time>
        )}
      </div>
      {compaction && (
        <details className="fold">
          <summary>Earlier messages are summarized</summary>
          {compaction.summary === '' ? (
            <p className="note">You may not see the summary.</p>
          ) : (
            <Markdown text={compaction.summary} />
          )}
        </details>
      )}
    </li>
  );
});

/** A message whose content cannot be shown in its own way, as the gateway has it. */
function Unshown({ content }: Pick<Message, 'content'>) {
  return (
    <>
      <p className="notice bad" role="alert">
        This message cannot be shown as it should be.
      </p>
      <Json value={content} label="The message" />
    </>
  );
}
