import type { GatewayError } from '../../../shared/errors.js';
import { ResponseStream } from '../../../shared/responses/stream.js';
import type {
  ResponseEventFrame,
  ResponseItem,
  ResponseObject,
  ResponseWriterOptions,
} from '../../../shared/responses/types.js';
import { eventText } from '../conversation/answering.js';
import { fieldError } from '../conversation/errors.js';
import { reading } from '../conversation/reading.js';
import { recallRun } from '../conversation/recall.js';
import { isKept } from '../conversation/state.js';
import { type DoorOutlet, segmentDialect, tell, tellAll } from '../conversation/told-segment.js';
import { type FoundResponse, notFound } from './finding.js';

const DONE = 'data: [DONE]\n\n';

const frameText = (frame: ResponseEventFrame): string => eventText(frame.type, frame);

/** Options for writing responses. */
export interface FoundResponseOptions extends ResponseWriterOptions {
  report(error: unknown, what: string): void;
}

/** Writes found responses, as streams or whole. */
export class FoundResponseWriter {
  readonly #options: FoundResponseOptions;

  constructor(options: FoundResponseOptions) {
    this.#options = options;
  }

  #stream(found: FoundResponse): ResponseStream {
    return new ResponseStream(found.name, this.#options);
  }

  /**
   * Streams a response from its beginning. A stream that fails is cut off, because a clean end would mean that the response is complete.
   *
   * @param skip Number of events that the client has
   * @param leaving The run that ends if the client leaves
   * @param frame Writes an event. @default as Server-Sent Events, which `[DONE]` ends
   * @param before Awaited before the last bytes, so that a client that has them may come back at once
   * @throws GatewayError if the events behind which a client continues are not kept any more
   */
  async stream(
    outlet: DoorOutlet,
    found: FoundResponse,
    {
      skip = 0,
      before,
      leaving,
      frame = frameText,
    }: {
      readonly skip?: number;
      readonly leaving?: string | undefined;
      before?(stream: ResponseStream): Promise<void>;
      frame?(frame: ResponseEventFrame): string;
    } = {},
  ): Promise<void> {
    const end = outlet.response ? DONE : '';
    const cursor = await this.#keptFrom(found);
    if (cursor === null) {
      if (skip > 0) throw gone();
      const { stream, frames } = await this.#recalled(found);
      if (!stream.over) throw gone();
      tellAll(outlet, `${frames.map(frame).join('')}${end}`);
      return;
    }
    const { runId, index } = found.name;
    // Fail now if there is no such response: the stream would wait for it.
    if (index > 0) await this.#read(found, 'head');
    const stream = this.#stream(found);
    const dialect = segmentDialect({ runId, cursor, told: index, skip }, { stream: () => stream, frame });
    const last = async (): Promise<string> => {
      await before?.(stream);
      return end;
    };
    const failure = await tell(outlet, found.session, dialect, {
      from: cursor,
      leaving,
      last,
      report: this.#options.report,
    });
    if (failure !== null) throw failure;
  }

  /** A response, once it is over. */
  async whole(found: FoundResponse, signal?: AbortSignal): Promise<ResponseStream> {
    return this.#read(found, 'over', signal);
  }

  /** The present state of a response. */
  async now(found: FoundResponse): Promise<ResponseObject> {
    return (await this.#read(found, 'head')).response;
  }

  /** The input of a response. */
  async input(found: FoundResponse): Promise<readonly ResponseItem[]> {
    return (await this.#read(found, 'head')).input;
  }

  async #read(found: FoundResponse, until: 'head' | 'over', signal?: AbortSignal): Promise<ResponseStream> {
    const cursor = await this.#keptFrom(found);
    if (cursor === null) return (await this.#recalled(found)).stream;
    const dialect = reading(this.#stream(found), until);
    const { over } = found.session.stream(dialect, { from: cursor, ...(signal && { signal }) });
    const stream = await over;
    if (stream.begun) return stream;
    throw notFound('response_id', 'There is no such response yet: its run has not reached it');
  }

  /** Cursor of a run's beginning; null if its events are not kept any more. */
  async #keptFrom({ session, run }: FoundResponse): Promise<string | null> {
    return run && (await isKept(session, run.cursor)) ? run.cursor : null;
  }

  /** Rebuilds a response from the history, as one response even if the app asked questions in between. */
  async #recalled(
    found: FoundResponse,
  ): Promise<{ readonly stream: ResponseStream; readonly frames: ResponseEventFrame[] }> {
    const { session, name } = found;
    if (name.index > 0) throw gone();
    const recalled = await recallRun(session, name.runId);
    if (!recalled) throw gone();
    const stream = this.#stream(found);
    return { stream, frames: stream.recall(recalled.answer, recalled.question) };
  }
}

function gone(): GatewayError {
  return fieldError(
    'starting_after',
    'the events of this response are not kept any more (limits of retention): retrieve it without a stream',
    'events_not_kept',
  );
}
