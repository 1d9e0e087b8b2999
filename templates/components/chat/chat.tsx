import { useConnection, useSession } from 'agent-session-gateway/client/react';
import { useState } from 'react';
import { Composer } from './composer.js';
import { MessageRow } from './message-row.js';
import { Question } from './question.js';
import { useStickyEnd } from './sticky-end.js';

interface ChatProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** The id of who writes. With it what is written and not sent is there again after a reload. */
  readonly user?: string;
  /** What an empty conversation can begin with. */
  readonly suggestions?: readonly string[];
}

/** A conversation. What it shows is the session's: reload the page, or open it twice, and it shows the same. */
export function Chat({ id, user, suggestions = [] }: ChatProps) {
  const session = useSession(id);
  const { messages, run, queue, sending, pending, status, error, hasMore } = session;
  const health = useConnection();
  const [problem, setProblem] = useState('');
  const { box, isAway, toEnd, onScroll } = useStickyEnd(session, messages[0]?.id);

  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.catch((cause: Error) => setProblem(cause.message));
  };
  const send = (text: string) => {
    session.send(text);
    toEnd();
  };
  const isEmpty = status === 'ready' && messages.length + sending.length === 0;

  return (
    <section className="chat" aria-label="Conversation" data-status={status} data-health={health}>
      {health === 'offline' && <p className="chat-offline">No connection. What you send is kept.</p>}
      <section className="chat-messages" ref={box} onScroll={onScroll} tabIndex={0} aria-label="Messages">
        {hasMore && (
          <button type="button" onClick={() => attempt(session.loadEarlier())}>
            Earlier messages
          </button>
        )}
        {isEmpty && (
          <p className="chat-suggestions">
            {suggestions.map((text) => (
              <button key={text} type="button" onClick={() => send(text)}>
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
      </section>
      {isAway && (
        <button type="button" className="chat-to-end" onClick={toEnd}>
          To the end
        </button>
      )}
      {(error || problem) && <p role="alert">{error?.message ?? problem}</p>}
      {/* Said to those who do not see the page; the words of an answer would be too many. */}
      <p className="chat-unseen" role="status">
        {{ running: 'Answering', waiting: 'Waits for your answer' }[status as string] ?? ''}
      </p>
      <Composer
        id={id}
        user={user}
        isBusy={run !== null || queue.length > 0}
        onSend={send}
        onStop={() => attempt(session.abort())}
      />
    </section>
  );
}
