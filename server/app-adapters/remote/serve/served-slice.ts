import { GatewayError, isGatewayError } from '../../../../shared/errors.js';
import type { AppEvent, AppResult } from '../../../apps/application.js';
import { isSigned } from '../../../runtime/signature.js';
import { issuesOf } from '../../../schema/validate.js';
import { type AppLine, type Slice, sliceSchema } from '../lines.js';
import type { ServedApp } from './served-app.js';
import { lastOf, SliceTurn } from './slice-turn.js';

/** Most that the time of a slice may differ from this clock, in seconds. */
const TOLERANCE_S = 300;

/** The headers of a slice. */
export interface SliceHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

/**
 * Reads a slice.
 *
 * @throws GatewayError `UNAUTHENTICATED` for one that is signed wrongly, or too old; `INVALID_REQUEST` that names the field
 */
export function readSlice(
  body: Uint8Array,
  { id, timestamp, signature }: SliceHeaders,
  secrets: readonly string[],
): Slice {
  if (!id || !signature || !timestamp || !/^\d{1,12}$/.test(timestamp))
    throw new GatewayError({ code: 'UNAUTHENTICATED', message: 'The slice is not signed' });
  const seconds = Number(timestamp);
  if (Math.abs(Date.now() / 1000 - seconds) > TOLERANCE_S)
    throw new GatewayError({ code: 'UNAUTHENTICATED', message: 'The slice is too old, or too new' });
  if (!isSigned({ id, timestamp: seconds, body }, signature, secrets))
    throw new GatewayError({ code: 'UNAUTHENTICATED', message: 'The signature does not match the slice' });
  return sliceOf(Buffer.from(body).toString());
}

/** A slice of its JSON. @throws GatewayError `INVALID_REQUEST` that names the field */
export function sliceOf(text: string): Slice {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'The slice is not JSON', cause });
  }
  const { data, error } = sliceSchema.safeParse(value);
  if (data) return data;
  const { path, message } = issuesOf(error)[0]!;
  throw new GatewayError({ code: 'INVALID_REQUEST', message: `${path}: ${message}` });
}

/** The way out of a slice's lines. */
export interface LineSink {
  /** Takes one or more lines. Returns a promise if the reader is behind. */
  write(lines: string): Promise<void> | undefined;
  readonly signal: AbortSignal;
}

/** Runs one slice of an app. Resolves once its last line is written, or nobody reads it. */
export function runSlice(
  app: ServedApp,
  slice: Slice,
  { sink, onError }: { readonly sink: LineSink; onError(error: unknown): void },
): Promise<void> {
  const over = new AbortController();
  let lines = '';
  let full: Promise<void> | undefined;
  const flush = (): void => {
    if (lines === '') return;
    const all = lines;
    lines = '';
    full = sink.write(all);
  };
  const say = (line: AppLine): void => {
    if (over.signal.aborted) return;
    if (lines === '') process.nextTick(flush);
    lines += `${JSON.stringify(line)}\n`;
  };
  return new Promise((resolve) => {
    const alive = setInterval(() => sink.write('\n'), ALIVE_MS);
    const end = (line: AppLine | null): void => {
      if (over.signal.aborted) return;
      if (line) say(line);
      flush();
      clearInterval(alive);
      sink.signal.removeEventListener('abort', left);
      over.abort(new DOMException('The slice is over', 'AbortError'));
      resolve();
    };
    const left = (): void => end(null);
    sink.signal.addEventListener('abort', left, { once: true });
    if (sink.signal.aborted) return left();
    const turn = new SliceTurn(slice, { say, end, signal: over.signal });
    const items = {
      say: (item: string | AppEvent): Promise<void> | undefined => {
        say(lineOf(item));
        if (lines.length > MOST_GATHERED) flush();
        const wait = full;
        full = undefined;
        return wait;
      },
      signal: over.signal,
    };
    drive(app, turn, items).then(
      (result) => {
        if (result?.text) say({ type: 'text', delta: result.text });
        if (result?.usage) turn.usage(result.usage);
        end({ type: 'end', ...(result?.stopReason && { stopReason: result.stopReason }) });
      },
      (error: unknown) => {
        if (over.signal.aborted) return;
        if (!isGatewayError(error)) onError(error);
        end(lastOf(error));
      },
    );
  });
}

const ALIVE_MS = 10_000;
const MOST_GATHERED = 32_768;

async function drive(
  app: ServedApp,
  turn: SliceTurn,
  { say, signal }: { say(item: string | AppEvent): Promise<void> | undefined; readonly signal: AbortSignal },
): Promise<AppResult | null> {
  const output = await app.run(turn);
  if (typeof output === 'string') return { text: output };
  if (typeof output !== 'object' || output === null) return null;
  if (!(Symbol.asyncIterator in output)) return output;
  const iterator = output[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) return typeof value === 'string' ? { text: value } : (value ?? null);
    // Code that the end of its slice has left goes no further.
    if (signal.aborted) return new Promise(() => {});
    const full = say(value);
    if (full) await full;
  }
}

function lineOf(item: string | AppEvent): AppLine {
  if (typeof item === 'string') return { type: 'text', delta: item };
  switch (item.type) {
    case 'content_delta':
      return { type: 'text', delta: item.delta };
    case 'reasoning_delta':
      return { type: 'reasoning', delta: item.delta };
    case 'data':
      return { type: 'data', id: item.id, name: item.name, value: item.value };
    case 'tool_use':
      return { type: 'tool_use', callId: item.callId, name: item.name, input: item.input };
    case 'tool_result': {
      const { callId, name, output, isError } = item;
      return { type: 'tool_result', callId, name, output, ...(isError && { isError }) };
    }
    default:
      throw new GatewayError({
        code: 'INTERNAL',
        message: `The app yielded ${String((item as AppEvent).type)}`,
      });
  }
}
