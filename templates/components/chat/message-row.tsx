import type { Message } from 'agent-session-gateway/client';
import { memo, type ReactNode } from 'react';
import { Boundary } from './boundary.js';

interface MessageRowProps {
  readonly message: Pick<Message, 'role' | 'content' | 'stopReason' | 'error'>;
  readonly note?: string;
  readonly children?: ReactNode;
}

/** A message stays the same object until it changes, so rows that did not change are not rendered again. */
export const MessageRow = memo(function MessageRow({ message, note, children }: MessageRowProps) {
  return (
    <article className={`message ${message.role}`}>
      <Boundary
        subject={message.content}
        fallback={() => (
          <>
            <p role="alert">This message cannot be shown as it should be.</p>
            <pre>{JSON.stringify(message.content, null, 2)}</pre>
          </>
        )}
      >
        <Blocks content={message.content} />
      </Boundary>
      <small>{note ?? outcomeOf(message)}</small>
      {children}
    </article>
  );
});

function Blocks({ content }: Pick<Message, 'content'>) {
  return content.map((block, at) => {
    if (block.type === 'text')
      return (
        <p key={at} dir="auto">
          {block.text}
        </p>
      );
    if (block.type === 'tool_use')
      return <code key={at}>{`${block.name} ${JSON.stringify(block.input)}`}</code>;
    return null;
  });
}

/** How an answer ended, where that was not by itself. */
function outcomeOf({ stopReason, error }: MessageRowProps['message']): string {
  switch (stopReason) {
    case undefined:
    case 'end':
      return '';
    case 'aborted':
    case 'superseded':
      return 'stopped';
    case 'taken_over':
    case 'handed_off':
      return 'a person goes on';
    case 'error':
      return `failed: ${error?.message}`;
    case 'lost':
      return 'lost: the server went away';
    default:
      return stopReason;
  }
}
