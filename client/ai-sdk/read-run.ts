import { parseCursor } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { UiChunk } from '../../shared/ui-stream/chunks.js';
import type { UiMessageStream } from '../../shared/ui-stream/stream.js';
import type { ClientSession } from '../session.js';

/** Turns a session's events into an answer. While `asking`, it needs to be told when no more events follow (`head`). */
interface RunEventReader<Told> {
  readonly asking: boolean;
  take(event: GatewayEvent): Told;
  head(): Told;
}

/** The start for reading a run: its first event's place, or a snapshot if that event is no longer kept. */
export async function originOf(session: ClientSession, runId: string): Promise<string> {
  const found = new AbortController();
  try {
    for await (const { type, cursor } of session.run(runId, { signal: found.signal }))
      return type === 'gap' || cursor === undefined ? 'snapshot' : cursor;
  } finally {
    found.abort();
  }
  return 'snapshot';
}

/**
 * Feeds a session's events to a reader. Events that were stored together arrive together, so all events up to a head are told once the head has been
 * reached.
 */
export async function* read<Told>(
  session: ClientSession,
  events: AsyncIterable<GatewayEvent>,
  reader: RunEventReader<Told>,
): AsyncGenerator<Told> {
  let head: number | null = null;
  for await (const event of events) {
    yield reader.take(event);
    const seq = event.cursor === undefined ? undefined : parseCursor(event.cursor)?.seq;
    if (!reader.asking || seq === undefined) head = null;
    else {
      head ??= (await session.status()).head;
      if (seq < head) continue;
      head = null;
      yield reader.head();
    }
  }
}

/** Reads a run up to its present end. @throws GatewayError `CURSOR_GONE` if its events are no longer kept */
export async function readSoFar(
  session: ClientSession,
  runId: string,
  reader: { take(event: GatewayEvent): void; head(): void },
): Promise<void> {
  const { head } = await session.status();
  for await (const event of session.events({ from: await originOf(session, runId) })) {
    if (event.type === 'gap' || event.type === 'snapshot') throw gone();
    reader.take(event);
    const seq = event.cursor === undefined ? 0 : (parseCursor(event.cursor)?.seq ?? 0);
    if (seq >= head) break;
  }
  reader.head();
}

/** A part of a run as a stream for interfaces. Cancelling it detaches. */
export function toStream(
  session: ClientSession,
  told: UiMessageStream,
  {
    from,
    signal,
    ended,
  }: {
    readonly from: string;
    readonly signal: AbortSignal | undefined;
    /** Called when the end of the run was told. */
    ended(): void;
  },
): ReadableStream<UiChunk> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  let made = 0;
  const reader: RunEventReader<UiChunk[]> = {
    get asking() {
      return told.asking;
    },
    take(event) {
      if (event.type === 'gap') return [];
      if (event.type !== 'snapshot') return told.take(event);
      const chunks = made === 0 ? told.begin(event.state) : null;
      if (!chunks) throw gone();
      return chunks;
    },
    head: () => told.head(),
  };
  const chunks = read(session, session.events({ from, signal: left.signal }), reader);
  return new ReadableStream<UiChunk>({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await chunks.next();
          if (done) throw signal?.aborted ? new DOMException('The stream was left', 'AbortError') : cut();
          made += value.length;
          for (const chunk of value) controller.enqueue(chunk);
          if (!told.over && value.length === 0) continue;
          if (!told.over) return;
          signal?.removeEventListener('abort', leave);
          leave();
          if (told.ended) ended();
          controller.close();
          return;
        }
      } catch (error) {
        signal?.removeEventListener('abort', leave);
        leave();
        controller.error(error);
      }
    },
    cancel() {
      signal?.removeEventListener('abort', leave);
      leave();
    },
  });
}

function gone(): GatewayError {
  return new GatewayError({
    code: 'CURSOR_GONE',
    message: 'The rest of the answer is not kept any more',
  });
}

function cut(): GatewayError {
  return new GatewayError({ code: 'ABORTED', message: 'The client was disconnected' });
}
