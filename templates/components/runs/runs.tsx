import type { Message } from 'agent-session-gateway/client';
import { useRuns, useSession } from 'agent-session-gateway/client/react';
import { childrenOf } from 'agent-session-gateway/client/runs';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { Ending } from '../message/outcome.js';
import { plainText } from '../message/plain-text.js';
import { textOf } from '../message/text.js';
import { useAround } from '../ui/around.js';
import { IconButton } from '../ui/icon-button.js';
import { RunTree } from './run-tree.js';

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
  const { readOnly } = useAround();
  const { messages, queue, pending, error } = useSession(id);
  const { runs, steer, abort } = useRuns(id);
  const actions = useMemo(() => (readOnly ? undefined : { steer, abort }), [readOnly, steer, abort]);
  const over = messages
    .filter(({ stopReason }) => stopReason !== undefined)
    .reverse()
    .slice(0, ended);
  const askedBy = ({ parentId }: Pick<Message, 'parentId'>) => {
    const asked = messages.find((message) => message.id === parentId);
    return asked ? plainText(textOf(asked)) : 'An answer';
  };
  return (
    <section className="asg runs-list" aria-label="Runs">
      {error && (
        <p className="bad" role="alert">
          {error.message}
        </p>
      )}
      {runs.length + queue.length + over.length === 0 && <p className="muted">No runs yet.</p>}
      {runs.length > 0 && (
        <RunTree
          runs={runs}
          label="Runs that go on"
          titleOf={({ message }) => askedBy(message)}
          actions={actions}
          pending={pending}
        />
      )}
      {queue.length > 0 && (
        <ol className="runs" aria-label="Runs that wait">
          {queue.map(({ runId, message }, at) => (
            <li key={runId} data-run={runId} data-status="queued" className="row run">
              <span className="fold waiting">
                <span className="dot" aria-hidden="true" />
                <strong dir="auto">{plainText(textOf(message))}</strong>
                <span className="muted">{at + 1} in the queue</span>
              </span>
              {actions && (
                <IconButton
                  label={`Withdraw ${plainText(textOf(message))}`}
                  icon={X}
                  onClick={() => void abort(runId).catch(() => {})}
                />
              )}
            </li>
          ))}
        </ol>
      )}
      {over.length > 0 && (
        <ol className="runs" aria-label="Runs that have ended">
          {over.map((message) => (
            <li key={message.id} data-status={message.stopReason}>
              <p className={`fold ${message.stopReason === 'end' ? 'done' : 'failed'}`}>
                <span className="dot" aria-hidden="true" />
                <strong dir="auto">{askedBy(message)}</strong>
                <span className="muted row">
                  {message.app && <span>{message.app}</span>}
                  <Ending message={message} />
                </span>
              </p>
              {message.children && <RunTree runs={childrenOf(message)} label="Its child runs" />}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
