import type { Message, PendingQuestion } from 'agent-session-gateway/client';
import type { RunNode } from 'agent-session-gateway/client/runs';
import { Elapsed } from './elapsed.js';
import { RunRow } from './run-row.js';

interface RunTreeProps {
  readonly runs: readonly RunNode[];
  /** What a run answers that is not the child of another. */
  readonly askedBy?: ((run: RunNode) => string) | undefined;
  /** The questions of the session. */
  readonly pending?: readonly PendingQuestion[];
  /** Ends a run. */
  readonly onAbort?: ((runId: string) => void) | undefined;
}

/** The rows of runs that go on or have ended, each with its children below it. */
export function RunTree({ runs, askedBy, pending = [], onAbort }: RunTreeProps) {
  return runs.map((run) => {
    const { runId, status, app, name, endedAt, startedAt, children } = run;
    const title = (run.parentRunId === undefined && askedBy?.(run)) || name;
    const goesOn = endedAt === undefined;
    return (
      <RunRow
        key={runId}
        state={status === 'end' ? 'done' : status}
        title={title}
        app={app === title ? undefined : app}
        {...(goesOn && onAbort && { onAbort: () => onAbort(runId) })}
        below={children.length > 0 && <RunTree runs={children} pending={pending} onAbort={onAbort} />}
      >
        {goesOn ? <Elapsed since={startedAt} /> : <span>{((endedAt - startedAt) / 1000).toFixed(1)} s</span>}
        {pending
          .filter((question) => question.runId === runId)
          .map(({ callId, name, message }) => (
            <span key={callId}>waits for an answer: {message ?? name}</span>
          ))}
        {goesOn &&
          Object.entries(run.progress ?? {}).map(([callId, { value, total, message = 'progress' }]) => (
            <progress key={callId} aria-label={message} value={value} max={total ?? Math.max(1, value)} />
          ))}
        {run.error && <span>{run.error.message}</span>}
      </RunRow>
    );
  });
}

/** The text of a message. */
export const textOf = ({ content }: Pick<Message, 'content'>): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join(' ');
