import type { SendingMessage } from 'agent-session-gateway/client';
import { useConnection } from 'agent-session-gateway/client/react';
import { MessageRow } from './message-row.js';

/** A message that the gateway has not accepted yet, or has refused. */
export function Sending({ sending }: { readonly sending: SendingMessage }) {
  const { message, status, error, retry, discard } = sending;
  const health = useConnection();
  const words = health === 'offline' ? 'Waits for a connection' : 'Is being sent';
  return (
    <MessageRow message={message}>
      <p
        className={`note ${status === 'failed' ? 'bad' : ''}`}
        role={status === 'failed' ? 'alert' : undefined}
      >
        <span>{status === 'failed' ? `Not sent: ${error?.message}` : words}</span>
        {status === 'failed' && (
          <button type="button" className="quiet" onClick={retry}>
            Try again
          </button>
        )}
        <button type="button" className="quiet" onClick={discard}>
          Discard
        </button>
      </p>
    </MessageRow>
  );
}
