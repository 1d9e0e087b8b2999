import type { ServerResponse } from 'node:http';
import { formatSegment } from '../../../shared/segments.js';
import type { UiChunk } from '../../../shared/ui-stream/chunks.js';
import type { UiStreamOptions } from '../../../shared/ui-stream/options.js';
import { UiMessageStream } from '../../../shared/ui-stream/stream.js';
import { segmentDialect, type ToldSegment, tell, tellAll } from '../conversation/told-segment.js';
import type { PluginSession } from '../plugin.js';

/** Response headers that a page of another origin must read. */
export const STREAM_HEADERS = ['x-vercel-ai-ui-message-stream', 'x-workflow-run-id', 'x-resumable-stream-id'];

const DONE = 'data: [DONE]\n\n';

/** Writes one chunk, without spaces: some readers search for the bytes of a type. */
function frame(chunk: UiChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** Answers with a part of a run. */
export async function tellRun(
  response: ServerResponse,
  session: PluginSession,
  telling: ToldSegment,
  {
    report,
    leaving,
    ...options
  }: UiStreamOptions & { readonly leaving?: string | undefined; report(error: unknown, what: string): void },
): Promise<void> {
  beginTelling(response, session, telling);
  const stream = () => new UiMessageStream(telling.runId, telling.told, options);
  await tell({ response }, session, segmentDialect(telling, { stream, frame }), {
    from: telling.cursor,
    leaving,
    // There is no such segment. A client that counts chunks must still find an end.
    last: ({ made }) => (made === 0 ? `${frame({ type: 'finish', finishReason: 'other' })}${DONE}` : DONE),
    report,
  });
}

/** Answers with a continuation that tells nothing of the run. */
export function tellNothing(
  response: ServerResponse,
  session: PluginSession,
  telling: ToldSegment,
  chunks: readonly UiChunk[],
): void {
  beginTelling(response, session, telling);
  endWith(response, chunks);
}

/** Tells a client that counts chunks that there are none. */
export function tellEnd(response: ServerResponse): void {
  response.setHeader('x-vercel-ai-ui-message-stream', 'v1');
  endWith(response, [{ type: 'finish', finishReason: 'other' }]);
}

function endWith(response: ServerResponse, chunks: readonly UiChunk[]): void {
  tellAll({ response }, `${chunks.map(frame).join('')}${DONE}`);
}

function beginTelling(response: ServerResponse, { id }: PluginSession, { runId, told }: ToldSegment): void {
  response.setHeader('x-vercel-ai-ui-message-stream', 'v1');
  if (told === 'whole') return;
  const segment = formatSegment({ sessionId: id, runId, index: told });
  response.setHeader('x-workflow-run-id', segment);
  response.setHeader('x-resumable-stream-id', segment);
}
