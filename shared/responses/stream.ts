import type { Message } from '../messages.js';
import { SegmentStream } from '../segment-stream.js';
import type { SegmentName } from '../segments.js';
import type { ResponseEventFrame, ResponseItem, ResponseObject, ResponseWriterOptions } from './types.js';
import { ResponseWriter } from './writer.js';

/** A response: one segment of a run. Frame number N is the same for every reader. */
export class ResponseStream extends SegmentStream<ResponseEventFrame> {
  readonly #writer: ResponseWriter;

  constructor({ index, ...run }: SegmentName, options: ResponseWriterOptions) {
    const writer = new ResponseWriter(run, options);
    super(run.runId, index, writer);
    this.#writer = writer;
  }

  /** The response so far. */
  get response(): ResponseObject {
    return this.#writer.response;
  }

  /** The items that this response answers. */
  get input(): readonly ResponseItem[] {
    return this.#writer.input;
  }

  /** An answer whose events are no longer kept, from its history. @param question The message that it answers */
  recall(answer: Message, question: Message | undefined): ResponseEventFrame[] {
    const runId = answer.runId ?? '';
    const asked: ResponseEventFrame[] = question
      ? this.take({
          type: 'message_accepted',
          sessionId: '',
          cursor: '',
          ts: question.createdAt,
          runId,
          message: question,
          onBusy: 'queue',
          position: 0,
        })
      : [];
    return [...asked, ...this.say(answer)];
  }
}
