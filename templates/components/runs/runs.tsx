import type { Message } from 'agent-session-gateway/client';
import { useRuns, useSession } from 'agent-session-gateway/client/react';
import { childrenOf } from 'agent-session-gateway/client/runs';
import { useState } from 'react';
import { RunRow } from './run-row.js';
import { RunTree, textOf } from './run-tree.js';

interface RunsProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** How many of the answers that are shown are listed once they have ended. */
  readonly ended?: number;
}

/**
 * The runs of a session: which app answers whom, since when, what it waits for, what waits behind it; and how the last ones ended. Below each are the
 * runs that it began.
 */
export function Runs({ id, ended = 5 }: RunsProps) {
  const { messages, queue, pending, error } = useSession(id);
  const { runs, abort } = useRuns(id);
  const [problem, setProblem] = useState('');
  const stop = (runId: string) => {
    setProblem('');
    abort(runId).catch((cause: Error) => setProblem(cause.message));
  };
  const over = messages
    .filter(({ stopReason }) => stopReason !== undefined)
    .reverse()
    .slice(0, ended);
  const isNothing = runs.length + queue.length + over.length === 0;

  return (
    <section className="runs" aria-label="Runs">
      {(error || problem) && <p role="alert">{error?.message ?? problem}</p>}
      {isNothing && <p>No runs yet.</p>}
      <ol>
        <RunTree
          runs={runs}
          askedBy={({ asked, message }) => (asked ? textOf(asked) : askedBy(messages, message))}
          pending={pending}
          onAbort={stop}
        />
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
            below={message.children && <RunTree runs={childrenOf(message)} />}
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

/** What a run answers, by the message before its own. */
function askedBy(messages: readonly Message[], { parentId }: Pick<Message, 'parentId'>): string {
  const asked = messages.find(({ id }) => id === parentId);
  return asked ? textOf(asked) : 'An answer';
}
