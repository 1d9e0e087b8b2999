import type { Message } from 'agent-session-gateway/client';
import { useSession } from 'agent-session-gateway/client/react';
import { useEffect, useState } from 'react';
import { RunRow } from './run-row.js';

interface RunsProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** How many of the answers that are shown are listed once they have ended. */
  readonly ended?: number;
}

/** The runs of a session: which app answers whom, since when, what it waits for, what waits behind it; and how the last ones ended. */
export function Runs({ id, ended = 5 }: RunsProps) {
  const { messages, run, queue, pending, abort, error } = useSession(id);
  const [problem, setProblem] = useState('');
  const stop = (runId: string) => {
    setProblem('');
    abort({ runId }).catch((cause: Error) => setProblem(cause.message));
  };
  const over = messages
    .filter(({ stopReason }) => stopReason !== undefined)
    .reverse()
    .slice(0, ended);
  const asks = pending.filter(({ runId }) => runId === run?.runId);
  const isNothing = run === null && queue.length + over.length === 0;

  return (
    <section className="runs" aria-label="Runs">
      {(error || problem) && <p role="alert">{error?.message ?? problem}</p>}
      {isNothing && <p>No runs yet.</p>}
      <ol>
        {run && (
          <RunRow
            state={asks.length > 0 ? 'waiting' : 'running'}
            title={askedBy(messages, run.message)}
            app={run.app}
            onAbort={() => stop(run.runId)}
          >
            <Elapsed since={run.message.createdAt} />
            {asks.map(({ callId, name, message }) => (
              <span key={callId}>waits for an answer: {message ?? name}</span>
            ))}
            {Object.entries(run.progress ?? {}).map(([callId, { value, total, message = 'progress' }]) => (
              <progress key={callId} aria-label={message} value={value} max={total ?? Math.max(1, value)} />
            ))}
          </RunRow>
        )}
        {queue.map(({ runId, message }, at) => (
          <RunRow key={runId} state="queued" title={textOf(message)} onAbort={() => stop(runId)}>
            <span>{at + 1} in the queue</span>
          </RunRow>
        ))}
        {over.map((message) => (
          <RunRow
            key={message.id}
            state={message.stopReason === 'end' ? 'done' : message.stopReason!}
            title={askedBy(messages, message)}
            app={message.app}
          >
            <time dateTime={new Date(message.endedAt!).toISOString()}>
              {new Date(message.endedAt!).toLocaleTimeString()}
            </time>
            <span>{((message.endedAt! - message.createdAt) / 1000).toFixed(1)} s</span>
            {message.error && <span>{message.error.message}</span>}
          </RunRow>
        ))}
      </ol>
    </section>
  );
}

const textOf = ({ content }: Pick<Message, 'content'>): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join(' ');

/** What a run answers, by the message before its own. */
function askedBy(messages: readonly Message[], { parentId }: Pick<Message, 'parentId'>): string {
  const asked = messages.find(({ id }) => id === parentId);
  return asked ? textOf(asked) : 'An answer';
}

const TICK_MS = 1000;

/** The time since a moment, in milliseconds since the epoch. It goes on while it is shown, and is not read aloud each second. */
function Elapsed({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  // Clocks of devices differ from the gateway's.
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  const minutes = Math.floor(seconds / 60);
  return (
    <time dateTime={`PT${seconds}S`}>
      {minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`}
    </time>
  );
}
