import type { ServerResponse } from 'node:http';
import { jsonText } from '../../schema/json-text.js';
import { nameAnswer } from '../request-id.js';
import type { HttpCall } from './http-call.js';
import type { HttpEnvironment } from './http-environment.js';
import { type ItemForm, streamItems } from './method-stream.js';

/** One JSON object a line. A failure cuts the body off without its proper end, because an error line could be taken for an item. */
const LINES: ItemForm = {
  start(response) {
    if (response.headersSent) return;
    nameAnswer(response);
    response.writeHead(200, {
      'Content-Type': 'application/x-ndjson; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      // A browser must not show text that users wrote as a page.
      'Content-Disposition': 'attachment; filename="session.ndjson"',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    response.flushHeaders();
  },
  item: ({ data = null }) => `${jsonText(data)}\n`,
};

/** Answers with everything that is kept of a session, one item a line, as fast as the client reads. */
export async function exportLines(
  env: HttpEnvironment,
  response: ServerResponse,
  { params, caller }: { readonly params: unknown; readonly caller: HttpCall },
): Promise<void> {
  const { stream } = await env.operations.export(params, caller);
  await streamItems(env, response, { stream, caller }, LINES);
}
