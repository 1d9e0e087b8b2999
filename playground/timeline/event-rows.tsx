import type { GatewayEvent } from 'agent-session-gateway/client';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { parseCursor } from '../../shared/cursor.js';
import type { Recorded } from './record.js';
import { words } from './words.js';

/** Height of a row in pixels, the same as in the stylesheet. */
const ROW = 30;
/** Extra rows above and below the visible ones. */
const SPARE = 10;

/** A list of many events, which renders only those in sight. Stays at its end while events arrive. */
export function EventRows({
  entries,
  chosen,
  onChoose,
}: {
  readonly entries: readonly Recorded[];
  /** Index of the open event, or -1. */
  readonly chosen: number;
  readonly onChoose: (entry: Recorded) => void;
}) {
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  useEffect(() => {
    const element = box.current!;
    const watcher = new ResizeObserver(() => setHeight(element.clientHeight));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: there are more
  useLayoutEffect(() => {
    if (atEnd.current) box.current!.scrollTop = box.current!.scrollHeight;
  }, [entries.length, height]);
  useLayoutEffect(() => {
    const element = box.current!;
    if (chosen < 0) return;
    atEnd.current = false;
    if (chosen * ROW < element.scrollTop) element.scrollTop = chosen * ROW;
    const below = (chosen + 1) * ROW - element.clientHeight;
    if (below > element.scrollTop) element.scrollTop = below;
  }, [chosen]);

  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const last = Math.min(entries.length, Math.ceil((top + height) / ROW) + SPARE);
  return (
    <section
      className="events"
      ref={box}
      tabIndex={0}
      aria-label="Events"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        setTop(scrollTop);
        atEnd.current = scrollHeight - clientHeight - scrollTop < ROW;
      }}
    >
      <div className="all" style={{ height: entries.length * ROW }}>
        <ul style={{ transform: `translateY(${first * ROW}px)` }}>
          {entries.slice(first, last).map((entry, at) => (
            <li key={entry.event.cursor ?? `${entry.event.type} ${entry.at}`}>
              <button
                type="button"
                aria-pressed={first + at === chosen}
                className={first + at === chosen ? 'chosen' : ''}
                onClick={() => onChoose(entry)}
              >
                <Cells entry={entry} began={entries[0]?.event.ts} />
              </button>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function Cells({ entry, began }: { readonly entry: Recorded; readonly began: number | undefined }) {
  const { event, size, count = 1, through } = entry;
  const place = event.cursor === undefined ? null : parseCursor(event.cursor);
  return (
    <>
      <span className="seq">{place?.seq ?? '·'}</span>
      <span className={`type ${event.type}`}>{event.type}</span>
      <span className="gist">
        {count > 1
          ? `${count} ×, ${size} B, ${words((through?.event.ts ?? 0) - (event.ts ?? 0))}`
          : gistOf(event)}
      </span>
      <span className="time" title={event.ts === undefined ? undefined : new Date(event.ts).toISOString()}>
        {event.ts === undefined ? '' : `+${words(event.ts - (began ?? event.ts))}`}
      </span>
    </>
  );
}

/** A summary of an event in a few words. */
function gistOf(event: GatewayEvent): string {
  switch (event.type) {
    case 'content_delta':
    case 'reasoning_delta':
      return JSON.stringify(event.delta);
    case 'tool_use':
    case 'tool_result':
    case 'tool_confirmation_required':
    case 'input_required':
    case 'custom':
    case 'data':
      return event.name;
    case 'channel':
      return event.channel;
    case 'message_end':
      return event.stopReason;
    case 'run_error':
      return event.code;
    case 'gap':
      return event.reason;
    default:
      return '';
  }
}
