import type { ServerResponse } from 'node:http';
import { isGatewayError } from '../../../shared/errors.js';
import { formatSegment } from '../../../shared/segments.js';
import type { UiChunk } from '../../../shared/ui-stream/chunks.js';
import type { UiStreamOptions } from '../../../shared/ui-stream/options.js';
import { UiMessageStream } from '../../../shared/ui-stream/stream.js';
import type { PluginSession } from '../plugin.js';
import { segmentDialect, type Telling } from '../telling.js';

/** What response headers a page of another origin has to read. */
export const STREAM_HEADERS = ['x-vercel-ai-ui-message-stream', 'x-workflow-run-id', 'x-resumable-stream-id'];

const DONE = 'data: [DONE]\n\n';

/** Writes one chunk. Compact: there are readers that look for the bytes of a type. */
function frame(chunk: UiChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** Answers with a part of a run. A stream that could not be told to its end does not end cleanly: that would be taken for the end. */
export async function tell(
  response: ServerResponse,
  session: PluginSession,
  telling: Telling,
  { report, ...options }: UiStreamOptions & { report(error: unknown, what: string): void },
): Promise<void> {
  beginTelling(response, session, telling);
  const stream = () => new UiMessageStream(telling.runId, telling.told, options);
  const dialect = segmentDialect(telling, { stream, frame });
  const { over, finish } = session.stream(dialect, { response, from: telling.cursor });
  try {
    const { made } = await over;
    // There is no such segment: who counts chunks has to find an end.
    finish(made === 0 ? `${frame({ type: 'finish', finishReason: 'other' })}${DONE}` : DONE);
  } catch (error) {
    if (!isGatewayError(error)) report(error, 'a UI message stream failed');
    response.destroy();
  }
}

/** Answers with a continuation that tells nothing of the run. */
export function tellNothing(
  response: ServerResponse,
  session: PluginSession,
  telling: Telling,
  chunks: readonly UiChunk[],
): void {
  beginTelling(response, session, telling);
  endWith(response, chunks);
}

/** Answers who counts chunks that there are none. */
export function tellEnd(response: ServerResponse): void {
  response.setHeader('x-vercel-ai-ui-message-stream', 'v1');
  endWith(response, [{ type: 'finish', finishReason: 'other' }]);
}

function endWith(response: ServerResponse, chunks: readonly UiChunk[]): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(`${chunks.map(frame).join('')}${DONE}`);
}

function beginTelling(response: ServerResponse, { id }: PluginSession, { runId, told }: Telling): void {
  response.setHeader('x-vercel-ai-ui-message-stream', 'v1');
  if (told === 'whole') return;
  const segment = formatSegment({ sessionId: id, runId, index: told });
  response.setHeader('x-workflow-run-id', segment);
  response.setHeader('x-resumable-stream-id', segment);
}
