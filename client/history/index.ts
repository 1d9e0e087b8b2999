import { EXPORT_PATH } from '../../shared/calls.js';
import { isGatewayError } from '../../shared/gateway-error.js';
import type { ExportedItems, ExportedKind } from '../../shared/operation-types.js';
import { openScope } from '../timing.js';
import { createCredentials } from '../transport/credentials.js';
import { broken, foreign, misused } from '../transport/failure.js';
import { queryOf, request, urlOf } from '../transport/http.js';
import type { HttpOptions } from '../transport/http-options.js';

export type { HttpOptions, Supplied } from '../transport/http-options.js';
export { appendMessages } from './append.js';

/** Options of `exportSession`. */
export interface ExportOptions<Kind extends ExportedKind = ExportedKind> {
  /** Exports the shown messages, the kept events, or other items. @default 'messages' */
  readonly what?: Kind | undefined;
  /** Ends the export with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a whole session, the oldest first, as fast as the loop takes it. Takes the options of `createClient`. It is an entry of its own, so that
 * pages that export nothing do not load it.
 *
 * @throws GatewayError `SESSION_NOT_FOUND`; `NETWORK` if it was cut off, so that the items so far are not the whole
 *
 * @example
 * ```ts
 * const lines: string[] = [];
 * for await (const message of exportSession({ baseUrl: '/agent' }, 'main')) lines.push(JSON.stringify(message));
 * ```
 */
export async function* exportSession<Kind extends ExportedKind = 'messages'>(
  options: HttpOptions,
  sessionId: string,
  { what, signal }: ExportOptions<Kind> = {},
): AsyncIterableIterator<ExportedItems[Kind]> {
  const { baseUrl, extraRoutes = '' } = options;
  if (baseUrl === undefined) throw misused('baseUrl is missing');
  const query = queryOf([
    ['sessionId', sessionId],
    ['what', what],
  ]);
  const path = `${extraRoutes}${EXPORT_PATH}?${query}`;
  const scope = openScope(signal);
  try {
    const response = await request(
      { options, credentials: createCredentials(options) },
      { path, signal: scope.signal },
    );
    for await (const line of linesOf(response)) yield parsed(line, response.url) as ExportedItems[Kind];
  } catch (cause) {
    if (signal?.aborted) throw scope.signal.reason;
    throw isGatewayError(cause) ? cause : broken(urlOf(baseUrl, path), 'its answer is not whole');
  } finally {
    scope.abort();
    scope.release();
  }
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body!.getReader();
  const decoder = new TextDecoder();
  // Pieces of a line, which may be many.
  let line: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    const [rest = '', ...next] = decoder.decode(value, { stream: !done }).split('\n');
    line.push(rest);
    for (const begun of next) {
      yield line.join('');
      line = [begun];
    }
    if (!done) continue;
    if (line.join('') !== '') throw new Error('The last line is not whole');
    return;
  }
}

function parsed(line: string, url: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw foreign(url, 'not with JSON', cause);
  }
}
