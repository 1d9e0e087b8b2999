import { useConnection, useSession } from 'agent-session-gateway/client/react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { MessageRow } from './message-row.js';

interface ChatProps {
  readonly id: string;
  readonly suggestions: readonly string[];
}

/** A conversation. What it shows is the session's: reload the page, or open it twice, and it shows the same. */
export function Chat({ id, suggestions }: ChatProps) {
  const session = useSession(id);
  const { messages, run, queue, sending, pending, status, error } = session;
  const health = useConnection();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const end = useRef<HTMLDivElement>(null);
  const size = messages.length + queue.length + sending.length + (run?.message.content.length ?? 0);
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [size]);

  const complain = (cause: Error) => setProblem(cause.message);
  const send = (said: string) => {
    setProblem('');
    if (said.trim() !== '') void session.send(said);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send(text);
    setText('');
  };

  return (
    <main aria-busy={status === 'running'}>
      <header>
        <h1>Agent</h1>
        <span className="health">{health === 'online' ? '' : health}</span>
      </header>
      <section className="messages" aria-label="Conversation">
        {status === 'ready' && messages.length === 0 && sending.length === 0 && (
          <p className="suggestions">
            {suggestions.map((suggestion) => (
              <button key={suggestion} type="button" onClick={() => send(suggestion)}>
                {suggestion}
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
        {pending.map(
          ({ kind, callId, name, message = `Allow ${name}?` }) =>
            kind === 'confirmation' && (
              <div key={callId} className="question" role="group" aria-label={message}>
                <p>{message}</p>
                <button type="button" onClick={() => session.approve(callId).catch(complain)}>
                  Approve
                </button>
                <button type="button" onClick={() => session.deny(callId).catch(complain)}>
                  Deny
                </button>
              </div>
            ),
        )}
        <div ref={end} />
      </section>
      {(error || problem) && <p role="alert">{error?.message ?? problem}</p>}
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit">Send</button>
        {run && (
          <button type="button" onClick={() => session.abort().catch(complain)}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}
