import { type GatewayEvent, initialState, reduce } from 'agent-session-gateway/client';
import { ChartNoAxesGantt, ChevronDown, ChevronUp, Download, FolderOpen, X } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { isDelta } from '../../shared/events.js';
import { isFailure } from '../../shared/failure.js';
import { IconButton } from '../../templates/components/ui/icon-button.js';
import { Json } from '../../templates/components/ui/json.js';
import { Code } from '../shell/code.js';
import { saveFile } from '../shell/save-file.js';
import { settings } from '../shell/settings.js';
import { EventRows } from './event-rows.js';
import { openExport } from './open-export.js';
import type { Outage, Recorded } from './record.js';
import { Replay } from './replay.js';
import { RunPlot } from './run-shape.js';
import { useRecord } from './use-record.js';

const KINDS = {
  all: () => true,
  messages: ({ type }: GatewayEvent) => /^(?:message_|steer|run_error|history_moved|session_)/.test(type),
  text: (event: GatewayEvent) => isDelta(event),
  tools: ({ type }: GatewayEvent) => /^(?:tool|input)_/.test(type),
  failures: (event: GatewayEvent) =>
    event.type === 'run_error' ||
    event.type === 'gap' ||
    (event.type === 'tool_result' && event.isError) ||
    (event.type === 'message_end' && isFailure(event.stopReason)),
  channels: ({ type }: GatewayEvent) => type === 'channel' || type === 'custom' || type === 'data',
} as const;

/** An export does not contain the outages of the page that saved it. */
const NONE: readonly Outage[] = [];

/** The shapes of a session's runs, every event, and the folded state at each event. */
export function Timeline({
  sessionId,
  wanted,
}: {
  readonly sessionId: string;
  /** Id of the answer whose run is shown first. */
  readonly wanted?: string | undefined;
}) {
  const record = useRecord();
  const [opened, setOpened] = useState<{ readonly name: string; readonly entries: readonly Recorded[] }>();
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string>();
  const { entries, dropped } = opened ? { entries: opened.entries, dropped: 0 } : record;
  const [kind, setKind] = useState<keyof typeof KINDS>('all');
  const [chosen, setChosen] = useState<string>();
  const [query, setQuery] = useState('');
  const shown = useMemo(() => {
    const words = query.trim().toLowerCase();
    const found = entries.filter(
      ({ event }) =>
        KINDS[kind](event) && (words === '' || JSON.stringify(event).toLowerCase().includes(words)),
    );
    return kind === 'text' || words !== '' ? found : folded(found);
  }, [entries, kind, query]);
  const at = chosen === undefined ? -1 : rowOf(shown, entries, chosen);
  const step = (by: number) => {
    const next = shown[at < 0 ? shown.length - 1 : Math.min(shown.length - 1, Math.max(0, at + by))];
    setChosen(next?.event.cursor);
  };
  const choose = (cursor: string) => {
    setKind('all');
    setQuery('');
    setChosen(cursor);
  };
  const open = shown[at];
  const show = async (file: File | undefined) => {
    if (!file) return;
    setChosen(undefined);
    try {
      setOpened({ name: file.name, entries: openExport(await file.text()) });
      setProblem(undefined);
    } catch (error) {
      setProblem(`${file.name} cannot be opened: ${(error as Error).message}`);
    }
  };
  return (
    <section className="tool timeline" aria-label="Timeline">
      <div className="row">
        <h2>Timeline</h2>
        <span className="muted">
          {opened && `${opened.name}: `}
          {entries.length + dropped} events
        </span>
        <span className="space" />
        {opened ? (
          <button type="button" onClick={() => setOpened(undefined)}>
            Back to {sessionId}
          </button>
        ) : (
          <>
            <input
              ref={input}
              type="file"
              hidden
              accept=".ndjson,.jsonl"
              onChange={({ target }) => {
                void show(target.files?.[0]);
                // Reset, so that the same file can be opened again.
                target.value = '';
              }}
            />
            <IconButton label="Open export" icon={FolderOpen} onClick={() => input.current?.click()} />
          </>
        )}
        <IconButton
          label="Export NDJSON"
          icon={Download}
          disabled={entries.length === 0}
          onClick={() => exportEvents(sessionId, entries)}
        />
      </div>
      <Code what="follow the session" of={({ eventsRecipe }) => eventsRecipe(sessionId)} />
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      {entries.length === 0 && (
        <div className="nothing">
          <ChartNoAxesGantt aria-hidden="true" />
          <p>Nothing has happened in {sessionId} yet.</p>
          <p className="muted">Each answer gets its shape here, and every event its row.</p>
        </div>
      )}
      <RunPlot
        entries={entries}
        outages={opened ? NONE : record.outages}
        wanted={wanted}
        chosenRun={open && 'runId' in open.event ? open.event.runId : undefined}
        sessionId={opened || settings.readOnly ? undefined : sessionId}
        onChoose={choose}
      />
      {!opened && entries.length > 0 && <Replay sessionId={sessionId} />}
      {entries.length > 0 && (
        <div className="row">
          <label>
            <span className="unseen">Show events of</span>
            <select value={kind} onChange={({ target }) => setKind(target.value as keyof typeof KINDS)}>
              {Object.keys(KINDS).map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <input
            type="search"
            aria-label="Search the events"
            placeholder="Search"
            value={query}
            onChange={({ target }) => setQuery(target.value)}
          />
          <IconButton
            label="Step back"
            icon={ChevronUp}
            disabled={shown.length === 0}
            onClick={() => step(-1)}
          />
          <IconButton
            label="Step on"
            icon={ChevronDown}
            disabled={shown.length === 0}
            onClick={() => step(1)}
          />
        </div>
      )}
      {entries.length > 0 && (
        <EventRows entries={shown} chosen={at} onChoose={(entry) => setChosen(entry.event.cursor)} />
      )}
      {open && (
        <Detail entry={open} entries={entries} dropped={dropped} onClose={() => setChosen(undefined)} />
      )}
    </section>
  );
}

/** The row of an event: its own, or that of the pieces among which it is. */
function rowOf(shown: readonly Recorded[], entries: readonly Recorded[], cursor: string): number {
  const own = shown.findIndex(({ event }) => event.cursor === cursor);
  if (own >= 0) return own;
  const place = entries.findIndex(({ event }) => event.cursor === cursor);
  return place < 0
    ? -1
    : shown.findIndex(({ through }) => through !== undefined && entries.indexOf(through) >= place);
}

/** Pieces of text that follow each other as one row each, which stands for all of them. */
function folded(entries: readonly Recorded[]): readonly Recorded[] {
  const rows: Recorded[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    const { event, size } = entry;
    if (
      last &&
      isDelta(event) &&
      isDelta(last.event) &&
      event.type === last.event.type &&
      event.runId === last.event.runId
    )
      rows[rows.length - 1] = {
        ...last,
        size: last.size + size,
        count: (last.count ?? 1) + 1,
        through: entry,
      };
    else rows.push(entry);
  }
  return rows;
}

function Detail({
  entry,
  entries,
  dropped,
  onClose,
}: {
  readonly entry: Recorded;
  readonly entries: readonly Recorded[];
  readonly dropped: number;
  readonly onClose: () => void;
}) {
  const [sees, setSees] = useState<'event' | 'state'>('event');
  const state = useMemo(() => {
    if (sees === 'event') return undefined;
    const until = entries.findIndex(({ event }) => event === (entry.through ?? entry).event) + 1;
    return entries.slice(0, until).reduce((folded, { event }) => reduce(folded, event), initialState);
  }, [sees, entry, entries]);
  const isWhole = dropped === 0 && /\.1$|^[^.]*$/.test(entries[0]?.event.cursor ?? '');
  return (
    <div className="detail">
      <fieldset className="row" aria-label="What is shown of the event">
        <button type="button" aria-pressed={sees === 'event'} onClick={() => setSees('event')}>
          Event
        </button>
        <button type="button" aria-pressed={sees === 'state'} onClick={() => setSees('state')}>
          State after it
        </button>
        <span className="space" />
        <IconButton label="Close" icon={X} onClick={onClose} />
      </fieldset>
      {sees === 'state' && !isWhole && (
        <p className="muted">
          Events before the first one here are not kept any more: the state begins there.
        </p>
      )}
      <Json
        value={sees === 'event' ? entry.event : state}
        label={sees === 'event' ? 'The event' : 'The state after it'}
      />
    </div>
  );
}

/** Saves the events as they arrived, one per line. */
function exportEvents(sessionId: string, entries: readonly Recorded[]): void {
  const lines = entries.map(({ event }) => `${JSON.stringify(event)}\n`);
  saveFile(`${sessionId}.ndjson`, lines.join(''), 'application/x-ndjson');
}
