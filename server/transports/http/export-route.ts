import type { ServerResponse } from 'node:http';
import type { HttpCall } from './http-call.js';
import type { HttpEnvironment } from './http-environment.js';
import { type ItemForm, streamItems } from './method-stream.js';
import { nameAnswer } from './request-id.js';

/** One JSON object a line. Who is cut off sees that by the missing end of the body: no line may be taken for an item that is none. */
const LINES: ItemForm = {
  start(response) {
    if (response.headersSent) return;
    nameAnswer(response);
    response.writeHead(200, {
      'Content-Type': 'application/x-ndjson; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      // A page must not be made of what somebody wrote.
      'Content-Disposition': 'attachment; filename="session.ndjson"',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    response.flushHeaders();
  },
  item: ({ data = null }) => `${JSON.stringify(data)}\n`,
};

/** Answers with what is kept of a session, a line an item, as fast as its reader takes it. */
export async function exportLines(
  env: HttpEnvironment,
  response: ServerResponse,
  { params, caller }: { readonly params: unknown; readonly caller: HttpCall },
): Promise<void> {
  const { stream } = await env.operations.export(params, caller);
  await streamItems(env, response, { stream, caller }, LINES);
}
