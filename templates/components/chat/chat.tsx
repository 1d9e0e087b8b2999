import { useConnection, useSession } from 'agent-session-gateway/client/react';
import { useEffect, useRef, useState } from 'react';
import { Composer } from './composer.js';
import { MessageRow } from './message-row.js';
import { Question } from './question.js';

interface ChatProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** What an empty conversation can begin with. */
  readonly suggestions?: readonly string[];
}

/** A conversation. What it shows is the session's: reload the page, or open it twice, and it shows the same. */
export function Chat({ id, suggestions = [] }: ChatProps) {
  const session = useSession(id);
  const { messages, run, queue, sending, pending, status, error, hasMore } = session;
  const health = useConnection();
  const [problem, setProblem] = useState('');
  const end = useRef<HTMLDivElement>(null);
  const size = messages.length + queue.length + sending.length + (run?.message.content.length ?? 0);
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [size]);

  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.catch((cause: Error) => setProblem(cause.message));
  };
  const isEmpty = status === 'ready' && messages.length + sending.length === 0;

  return (
    <section className="chat" aria-label="Conversation" aria-busy={status === 'running'} data-health={health}>
      {health === 'offline' && <p className="chat-offline">No connection. What you send is kept.</p>}
      <div className="chat-messages">
        {hasMore && (
          <button type="button" onClick={() => attempt(session.loadEarlier())}>
            Earlier messages
          </button>
        )}
        {isEmpty && (
          <p className="chat-suggestions">
            {suggestions.map((text) => (
              <button key={text} type="button" onClick={() => session.send(text)}>
                {text}
              </button>
            ))}
          </p>
        )}
        {messages.map((message) => (
          <MessageRow key={message.id} message={message} />
        ))}
        {run && <MessageRow key={run.message.id} message={run.message} note="…" />}
        {queue.map(({ message }) => (
          <MessageRow key={message.id} message={message} note="waits for its turn" />
        ))}
        {sending.map(({ message, status: state, error: cause, retry, discard }) => (
          <MessageRow
            key={message.id}
            message={message}
            note={state === 'failed' ? `was not sent: ${cause?.message}` : 'is being sent'}
          >
            {state === 'failed' && (
              <>
                <button type="button" onClick={() => retry()}>
                  Try again
                </button>
                <button type="button" onClick={() => discard()}>
                  Discard
                </button>
              </>
            )}
          </MessageRow>
        ))}
        {pending.map((question) => (
          <Question
            key={question.callId}
            question={question}
            onAnswer={(response) => attempt(session.respond(question.callId, response))}
          />
        ))}
        <div ref={end} />
      </div>
      {(error || problem) && <p role="alert">{error?.message ?? problem}</p>}
      {/* Said to those who do not see the page; the words of an answer would be too many. */}
      <p className="chat-unseen" role="status">
        {{ running: 'Answering', waiting: 'Waits for your answer' }[status as string] ?? ''}
      </p>
      <Composer
        isBusy={run !== null || queue.length > 0}
        onSend={(text) => session.send(text)}
        onStop={() => attempt(session.abort())}
      />
    </section>
  );
}
