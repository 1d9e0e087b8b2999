import type { PendingQuestion } from 'agent-session-gateway/client';
import type { RunNode, SessionRuns } from 'agent-session-gateway/client/runs';
import { MessageSquareReply, Square } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Blocks } from '../message/blocks.js';
import { Ending } from '../message/outcome.js';
import { plainText } from '../message/plain-text.js';
import { textOf } from '../message/text.js';
import { Elapsed } from '../ui/elapsed.js';
import { IconButton } from '../ui/icon-button.js';
import { isForInputMethod } from '../ui/keys.js';

interface RunTreeProps {
  readonly runs: readonly RunNode[];
  readonly label: string;
  /** What a run answers that is not the child of another. */
  readonly titleOf?: ((run: RunNode) => string) | undefined;
  /** Absent where nobody may change them. */
  readonly actions?: SessionRuns | undefined;
  /** The questions of the session. */
  readonly pending?: readonly PendingQuestion[];
  /** Whether their answers are open from the beginning. */
  readonly open?: boolean;
}

/** Runs, each with its state, time and answer, what can be done with it, and its children below. */
export function RunTree(props: RunTreeProps) {
  const { runs, label } = props;
  return (
    <ul className="runs" aria-label={label}>
      {runs.map((run) => (
        <RunItem key={run.runId} {...props} run={run} />
      ))}
    </ul>
  );
}

function RunItem({ run, titleOf, actions, pending = [], open }: RunTreeProps & { readonly run: RunNode }) {
  const { name, app, status, message, asked, steering = [], children, progress } = run;
  const goesOn = status === 'running' || status === 'waiting';
  const title = titleOf?.(run) ?? (run.parentRunId === undefined && asked ? textOf(asked) : name);
  const state = goesOn ? 'running' : status === 'end' ? 'done' : 'failed';
  return (
    <li data-run={run.runId} data-status={status}>
      <div className="row run">
        <details className={`fold ${state}`} open={open}>
          <summary>
            <span className="dot" aria-hidden="true" />
            <strong dir="auto">{title}</strong>
            {app !== title && <span>{app}</span>}
            {goesOn ? (
              <>
                <span className="unseen">goes on</span> <Elapsed since={run.startedAt} />
              </>
            ) : (
              <Ending message={{ ...run, stopReason: status, createdAt: run.startedAt }} />
            )}
            {run.pendingCallIds.length === 0 && run.text && (
              <span className="last-words" dir="auto">
                {lastWords(run.text)}
              </span>
            )}
            {run.pendingCallIds.map((id) => (
              <span key={id} className="waits">
                waits for you: {questionOf(pending, id)}
              </span>
            ))}
          </summary>
          {asked && title === name && (
            <p className="muted" dir="auto">
              {textOf(asked)}
            </p>
          )}
          {steering.map((told) => (
            <p key={told.id} className="muted" dir="auto">
              {told.taken ? 'Told' : 'To be told'}: {textOf(told)}
            </p>
          ))}
          <div className="content">
            <Blocks
              content={message.content}
              progress={progress}
              pending={pending}
              stopReason={goesOn ? undefined : status}
            />
          </div>
        </details>
        {goesOn && actions && <Actions run={run} title={title} actions={actions} />}
      </div>
      {children.length > 0 && (
        <RunTree
          {...{ runs: children, actions, pending, label: `Children of ${title}` }}
          {...(open && { open })}
        />
      )}
    </li>
  );
}

/** The end of what a run has said so far, in one line. */
const lastWords = (text: string): string => plainText(text.slice(-400)).slice(-90);

function questionOf(pending: readonly PendingQuestion[], id: string): string {
  const question = pending.find(({ callId }) => callId === id);
  return question?.message ?? question?.name ?? '';
}

/** Steers a run, or ends it. */
function Actions({
  run: { runId },
  title,
  actions: { steer, abort },
}: {
  readonly run: RunNode;
  readonly title: string;
  readonly actions: SessionRuns;
}) {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState('');
  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.catch((error: Error) => setProblem(error.message));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!text?.trim()) return;
    attempt(steer(runId, text.trim()));
    setText(undefined);
  };
  return (
    <>
      <IconButton
        label={`Steer ${title}`}
        word="Steer"
        icon={MessageSquareReply}
        aria-expanded={text !== undefined}
        onClick={() => setText(text === undefined ? '' : undefined)}
      />
      <IconButton
        label={`Stop ${title}`}
        word="Stop"
        icon={Square}
        className="stop"
        onClick={() => attempt(abort(runId))}
      />
      {text !== undefined && (
        <form
          className="row"
          onSubmit={submit}
          onKeyDown={(event) => event.key === 'Escape' && !isForInputMethod(event) && setText(undefined)}
        >
          <input
            aria-label={`Message for ${title}`}
            dir="auto"
            value={text}
            // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
            autoFocus
            onChange={({ target }) => setText(target.value)}
          />
          <button type="submit">Send</button>
        </form>
      )}
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
