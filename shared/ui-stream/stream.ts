import { SegmentStream, type ToldPart } from '../segment-stream.js';
import type { UiChunk } from './chunks.js';
import type { UiStreamOptions } from './options.js';
import { UiWriter } from './writer.js';

/** A run, or one of its segments, as a UI message stream. Chunk number N is the same for every reader. */
export class UiMessageStream extends SegmentStream<UiChunk> {
  constructor(runId: string, told: ToldPart, options: UiStreamOptions) {
    super(runId, told, new UiWriter(runId, options));
  }
}
