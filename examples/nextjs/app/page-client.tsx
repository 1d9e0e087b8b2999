'use client';

import { createClient, type Message, type SessionState } from 'agent-session-gateway/client';
import { GatewayProvider, useConnection, useSession } from 'agent-session-gateway/client/react';
import { type FormEvent, useState } from 'react';

// Outside of components: one for the page. On the server it opens nothing.
const client = createClient({ baseUrl: '/api/agent' });

/** The page as the server rendered it; in the browser it goes on from its cursor. */
export function Page({ initial }: { readonly initial: SessionState }) {
  return (
    <GatewayProvider client={client}>
      <Chat initial={initial} />
    </GatewayProvider>
  );
}

const textOf = ({ content }: Pick<Message, 'content'>) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

function Chat({ initial }: { readonly initial: SessionState }) {
  const session = useSession('main', { initial });
  const { messages, run, queue, sending, pending, error } = session;
  const health = useConnection();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.catch((cause: Error) => setProblem(cause.message));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') void session.send(text);
    setText('');
  };
  return (
    <main>
      <p>{health}</p>
      <ol>
        {messages.map((message) => (
          <li key={message.id} className={message.role}>
            {textOf(message)}
            {message.stopReason && message.stopReason !== 'end' && (
              <em>
                {' '}
                {message.stopReason} {message.error?.message}
              </em>
            )}
          </li>
        ))}
        {run && (
          <li key={run.message.id} className="assistant growing">
            {textOf(run.message)}
          </li>
        )}
        {queue.map(({ message }) => (
          <li key={message.id} className="user">
            {textOf(message)} (waits for its turn)
          </li>
        ))}
        {sending.map(({ message, status, error: cause, retry }) => (
          <li key={message.id} className="user">
            {textOf(message)} {status === 'failed' ? `(was not sent: ${cause?.message})` : '(is being sent)'}
            {status === 'failed' && (
              <button type="button" onClick={() => retry()}>
                Try again
              </button>
            )}
          </li>
        ))}
      </ol>
      {pending.map(
        ({ kind, callId, name, message = `Allow ${name}?` }) =>
          kind === 'confirmation' && (
            <p key={callId} role="group">
              {message}{' '}
              <button type="button" onClick={() => attempt(session.approve(callId))}>
                Approve
              </button>
              <button type="button" onClick={() => attempt(session.deny(callId))}>
                Deny
              </button>
            </p>
          ),
      )}
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
          <button type="button" onClick={() => attempt(session.abort())}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}
