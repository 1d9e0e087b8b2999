import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type CSSProperties, useEffect, useMemo, useState } from 'react';
import { isFailure } from '../../shared/failure.js';
import { IconButton } from '../../templates/components/ui/icon-button.js';
import { Compare, RunAgain } from './compare.js';
import type { Outage, Recorded } from './record.js';
import { type RunShape, type Stretch, shapesOf } from './shape.js';
import { Trace } from './trace.js';
import { words } from './words.js';

/** Columns of the plot of text. */
const COLUMNS = 96;

/** The shape of one run: bars by time, and the cuts of the connection. A click on a bar selects its event. */
export function RunPlot({
  entries,
  outages,
  wanted,
  chosenRun,
  sessionId,
  onChoose,
}: {
  readonly entries: readonly Recorded[];
  readonly outages: readonly Outage[];
  /** Id of the answer whose run is to be shown first. */
  readonly wanted: string | undefined;
  /** Id of the run of the event that is open, which is shown then. */
  readonly chosenRun: string | undefined;
  /** The session, if its messages can be asked again. */
  readonly sessionId: string | undefined;
  readonly onChoose: (cursor: string) => void;
}) {
  const all = useMemo(() => shapesOf(entries, outages), [entries, outages]);
  const [picked, setPicked] = useState<string>();
  const [compared, setCompared] = useState('');
  // Child runs are shown in the run that began them.
  const shapes = all.filter(({ parentRunId }) => !all.some(({ runId }) => runId === parentRunId));
  const index = shapes.findIndex(({ runId }) => runId === picked);
  const at = index < 0 ? shapes.length - 1 : index;
  const shape = shapes[at];
  // A newer run is what one wants to see.
  // biome-ignore lint/correctness/useExhaustiveDependencies: their number is what has changed
  useEffect(() => setPicked(undefined), [shapes.length]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is picked once, when it is asked for
  useEffect(() => {
    const asked = shapes.find(({ answerId }) => answerId !== undefined && answerId === wanted);
    if (asked) setPicked(asked.runId);
  }, [wanted]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is picked once, when its event is opened
  useEffect(() => {
    const rootOf = (runId: string | undefined): string | undefined => {
      const parent = all.find((run) => run.runId === runId)?.parentRunId;
      return parent !== undefined && all.some((run) => run.runId === parent) ? rootOf(parent) : runId;
    };
    if (chosenRun !== undefined) setPicked(rootOf(chosenRun));
  }, [chosenRun]);
  if (!shape) return null;
  const other = shapes.find(({ runId }) => runId === compared && runId !== shape.runId);
  const to = (step: number) => shapes[at + step]?.runId;
  return (
    <figure className="shape">
      <figcaption className="row">
        <strong dir="auto">{shape.asked || 'Run'}</strong>
        <span
          className={`muted ${shape.stopReason === undefined ? 'live' : ''} ${isFailure(shape.stopReason) ? 'bad' : ''}`}
        >
          {words(shape.ms)} · {shape.stopReason ?? 'goes on'}
          {shape.cuts.length > 0 && ` · ${shape.cuts.length} ${shape.cuts.length === 1 ? 'cut' : 'cuts'}`}
        </span>
        <span className="space" />
        {shapes.length > 1 && (
          <span className="muted">
            {at + 1} of {shapes.length}
          </span>
        )}
        <IconButton
          label="Run before"
          icon={ChevronLeft}
          disabled={at === 0}
          onClick={() => setPicked(to(-1))}
        />
        <IconButton
          label="Next run"
          icon={ChevronRight}
          disabled={at === shapes.length - 1}
          onClick={() => setPicked(to(1))}
        />
      </figcaption>
      <Drawing shape={shape} onChoose={onChoose} />
      <Legend shape={shape} />
      <Trace sessionId={sessionId} run={shape} runs={all} onChoose={onChoose} />
      <div className="row">
        {sessionId !== undefined && <RunAgain key={shape.runId} sessionId={sessionId} run={shape} />}
        <span className="space" />
        {shapes.length > 1 && (
          <select
            aria-label="Compare with another run"
            value={other?.runId ?? ''}
            onChange={({ target }) => setCompared(target.value)}
          >
            <option value="">Compare with…</option>
            {shapes.map(({ runId, asked }, place) =>
              runId === shape.runId ? null : (
                <option key={runId} value={runId}>
                  {place + 1}: {asked.slice(0, 40)}
                </option>
              ),
            )}
          </select>
        )}
      </div>
      {other && <Compare run={shape} other={other} />}
    </figure>
  );
}

function Drawing({
  shape,
  onChoose,
}: {
  readonly shape: RunShape;
  readonly onChoose: (cursor: string) => void;
}) {
  const { ms, lanes, cuts, pieces } = shape;
  const columns = columnsOf(pieces, ms);
  const most = Math.max(1, ...columns);
  const span = (from: number, to: number) => ({
    left: `${(from / ms) * 100}%`,
    width: `${((to - from) / ms) * 100}%`,
  });
  return (
    <section className="drawing" aria-label={describe(shape)}>
      <svg viewBox={`0 0 ${COLUMNS} 1`} preserveAspectRatio="none" aria-hidden="true">
        {columns.map((size, at) => (
          <rect key={at} x={at + 0.1} y={1 - size / most} width={0.8} height={size / most} />
        ))}
      </svg>
      {lanes.map((lane) => (
        <div key={`${lane[0]!.kind} ${lane[0]!.from} ${lane[0]!.name}`} className="lane">
          {lane.map((stretch) => (
            <Bar
              key={`${stretch.kind} ${stretch.from} ${stretch.name}`}
              stretch={stretch}
              style={span(stretch.from, stretch.to)}
              onChoose={onChoose}
            />
          ))}
        </div>
      ))}
      {cuts.map(({ from, to }) => (
        <div
          key={from}
          className="outage"
          role="img"
          style={span(from, to)}
          aria-label={`Cut at ${words(from)}, resumed ${words(to - from)} later`}
          data-tip={`Cut at ${words(from)}, resumed ${words(to - from)} later`}
        />
      ))}
      <div className="axis" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{words(ms * part)}</span>
        ))}
      </div>
    </section>
  );
}

function Bar({
  stretch: { kind, name, from, to, failed = false, cursor },
  style,
  onChoose,
}: {
  readonly stretch: Stretch;
  readonly style: CSSProperties;
  readonly onChoose: (cursor: string) => void;
}) {
  const label = `${name}: ${words(to - from)}, from ${words(from)}${failed ? ', failed' : ''}`;
  return (
    <button
      type="button"
      className={`bar ${kind} ${failed ? 'failed' : ''}`}
      style={style}
      aria-label={label}
      data-tip={label}
      disabled={cursor === undefined}
      onClick={() => cursor !== undefined && onChoose(cursor)}
    >
      <span aria-hidden="true">{name}</span>
    </button>
  );
}

const LEGEND = [
  ['queue', 'waits'],
  ['text', 'text'],
  ['reasoning', 'reasoning'],
  ['tool', 'tool'],
  ['person', 'waits for you'],
] as const;

function Legend({ shape: { lanes, cuts } }: { readonly shape: RunShape }) {
  const kinds = new Set(lanes.flat().map(({ kind }) => kind));
  return (
    <ul className="legend" aria-hidden="true">
      {LEGEND.filter(([kind]) => kinds.has(kind)).map(([kind, name]) => (
        <li key={kind} className={kind}>
          {name}
        </li>
      ))}
      {cuts.length > 0 && <li className="outage">no connection</li>}
    </ul>
  );
}

function columnsOf(pieces: RunShape['pieces'], ms: number): number[] {
  const columns = Array<number>(COLUMNS).fill(0);
  for (const { at, size } of pieces) columns[Math.min(COLUMNS - 1, Math.floor((at / ms) * COLUMNS))]! += size;
  return columns;
}

function describe({ asked, ms, stopReason, lanes, cuts }: RunShape): string {
  const parts = lanes.flat().length;
  return `Run ${asked}: ${words(ms)}, ${stopReason ?? 'goes on'}, ${parts} parts, ${cuts.length} cuts`;
}
