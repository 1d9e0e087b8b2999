import type { CSSProperties } from 'react';
import { isFailure } from '../../shared/failure.js';
import type { RunShape, Stretch } from './shape.js';
import { useToldRun } from './use-told-run.js';
import { words } from './words.js';

/**
 * A run as a tree: what it did in the order in which it began, and below it the runs that it began, each with its place and length in the time of the
 * whole, its tokens, and why it failed.
 */
export function Trace({
  sessionId,
  run,
  runs,
  onChoose,
}: {
  /** The session, if its gateway can be asked what else ran. */
  readonly sessionId: string | undefined;
  readonly run: RunShape;
  /** All runs that are known. */
  readonly runs: readonly RunShape[];
  readonly onChoose: (cursor: string) => void;
}) {
  const family = descendantsOf(run, runs);
  const end = Math.max(...family.map(({ began, ms }) => began + ms));
  return (
    <ul className="trace" aria-label={`Trace of ${run.asked || run.name}`}>
      <Branch
        sessionId={sessionId}
        run={run}
        runs={runs}
        whole={{ began: run.began, ms: Math.max(1, end - run.began) }}
        onChoose={onChoose}
      />
    </ul>
  );
}

interface Whole {
  readonly began: number;
  readonly ms: number;
}

function Branch({
  sessionId,
  run,
  runs,
  whole,
  onChoose,
}: {
  readonly sessionId: string | undefined;
  readonly run: RunShape;
  readonly runs: readonly RunShape[];
  readonly whole: Whole;
  readonly onChoose: (cursor: string) => void;
}) {
  const { runId, began, ms, name, stopReason, usage, error, cursor, lanes } = run;
  const children = runs.filter(({ parentRunId }) => parentRunId === runId);
  const told = useToldRun(sessionId, runId, stopReason !== undefined);
  const parts = [
    ...told.parts.map(({ at, ms: took, ...part }) => ({
      from: at,
      stretch: {
        ...part,
        from: at - began,
        to: took === undefined ? ms : at - began + took,
        cursor: undefined,
      },
    })),
    ...lanes.flat().map((stretch) => ({ from: began + stretch.from, stretch })),
    ...children.map((child) => ({ from: child.began, child })),
  ].sort((one, other) => one.from - other.from);
  const failed = isFailure(stopReason);
  return (
    <li data-kind="run" data-failed={failed}>
      <Row
        name={run.parentRunId === undefined ? name || 'run' : name}
        note={[stopReason ?? 'goes on', tokensOf(usage)].filter(Boolean).join(' · ')}
        kind="app"
        {...{ from: began - whole.began, ms, whole, failed, cursor, onChoose }}
      />
      {error && <p className="bad">{error}</p>}
      {told.errors.map(({ of, stack }, at) => (
        <details key={at} className="fold">
          <summary>Stack of {of}</summary>
          <pre tabIndex={0}>{stack}</pre>
        </details>
      ))}
      {told.lines.length > 0 && (
        <details className="fold" open>
          <summary>Log: {told.lines.length === 1 ? 'a line' : `${told.lines.length} lines`}</summary>
          <ol className="log">
            {told.lines.map(({ at, level, text }, place) => (
              <li key={place} className={level}>
                <small>+{words(Math.max(0, at - began))}</small> <span dir="auto">{text}</span>
              </li>
            ))}
          </ol>
        </details>
      )}
      <ul>
        {parts.map((part) =>
          'child' in part ? (
            <Branch key={part.child.runId} {...{ sessionId, runs, whole, onChoose }} run={part.child} />
          ) : (
            <Leaf
              key={`${part.stretch.kind} ${part.stretch.from} ${part.stretch.name}`}
              stretch={part.stretch}
              from={part.from - whole.began}
              whole={whole}
              onChoose={onChoose}
            />
          ),
        )}
      </ul>
    </li>
  );
}

function Leaf({
  stretch: { kind, name, from: begins, to, failed = false, usage, cursor },
  from,
  whole,
  onChoose,
}: {
  readonly stretch: Stretch;
  readonly from: number;
  readonly whole: Whole;
  readonly onChoose: (cursor: string) => void;
}) {
  return (
    <li data-kind={kind} data-failed={failed}>
      <Row
        note={[failed && 'failed', tokensOf(usage)].filter(Boolean).join(' · ')}
        {...{ name, kind, from, ms: to - begins, whole, failed, cursor, onChoose }}
      />
    </li>
  );
}

function Row({
  name,
  note,
  kind,
  from,
  ms,
  whole,
  failed,
  cursor,
  onChoose,
}: {
  readonly name: string;
  readonly note: string;
  readonly kind: string;
  readonly from: number;
  readonly ms: number;
  readonly whole: Whole;
  readonly failed: boolean;
  readonly cursor: string | undefined;
  readonly onChoose: (cursor: string) => void;
}) {
  const place: CSSProperties = {
    insetInlineStart: `${(from / whole.ms) * 100}%`,
    width: `${(ms / whole.ms) * 100}%`,
  };
  return (
    <button
      type="button"
      className={failed ? 'row failed' : 'row'}
      disabled={cursor === undefined}
      onClick={() => cursor !== undefined && onChoose(cursor)}
    >
      <span className="name" dir="auto">
        {name}
      </span>
      {note && <small>{note}</small>}
      <span className="space" />
      <small className="times">
        +{words(from)} <b>{words(ms)}</b>
      </small>
      <span className="strip" aria-hidden="true">
        <i className={kind} style={place} />
      </span>
    </button>
  );
}

/** Tokens in and out, or their sum where an app tells no more. */
export function tokensOf(usage: RunShape['usage']): string {
  if (!usage) return '';
  const { inputTokens, outputTokens, totalTokens } = usage;
  if (inputTokens !== undefined || outputTokens !== undefined)
    return `${inputTokens ?? '?'} in, ${outputTokens ?? '?'} out`;
  return totalTokens === undefined ? '' : `${totalTokens} tokens`;
}

function descendantsOf(run: RunShape, runs: readonly RunShape[]): RunShape[] {
  const children = runs.filter(({ parentRunId }) => parentRunId === run.runId);
  return [run, ...children.flatMap((child) => descendantsOf(child, runs))];
}
