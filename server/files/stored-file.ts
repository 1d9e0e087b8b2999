import { LimitError } from '../limit-error.js';
import type { ByteRange, FileRecord } from '../stores/files/file-store.js';

/** An uploaded file, for apps. */
export interface StoredFile {
  readonly fileId: string;
  readonly name?: string;
  /** Media type, detected from the bytes. */
  readonly mediaType: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
  /** The whole file in memory. @throws GatewayError `PAYLOAD_TOO_LARGE` for more than `limits.inlineFileBytes` bytes */
  bytes(): Promise<Uint8Array>;
  /** The bytes as a stream. @param range The first and the last byte, from 0. @default the whole file */
  stream(range?: ByteRange): ReadableStream<Uint8Array>;
}

/** @param inlineBytes Most bytes that may be read into memory. */
export function openedFile(
  { fileId, name, mediaType, size, sha256 }: FileRecord,
  inlineBytes: number,
  read: (range?: ByteRange) => Promise<AsyncIterable<Uint8Array>>,
): StoredFile {
  return {
    fileId,
    ...(name !== undefined && { name }),
    mediaType,
    size,
    sha256,
    async bytes() {
      if (size > inlineBytes) {
        throw new LimitError('limits.inlineFileBytes', {
          code: 'PAYLOAD_TOO_LARGE',
          message: `The file has ${size} bytes, and ${inlineBytes} at most are read into memory (limits.inlineFileBytes); stream() reads more`,
          details: { limit: 'inlineFileBytes', bytes: inlineBytes },
        });
      }
      const whole = new Uint8Array(size);
      let at = 0;
      for await (const chunk of await read()) {
        whole.set(chunk, at);
        at += chunk.byteLength;
      }
      return whole;
    },
    stream: (range) => streamOf(() => read(range)),
  };
}

function streamOf(read: () => Promise<AsyncIterable<Uint8Array>>): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        iterator ??= (await read())[Symbol.asyncIterator]();
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator?.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
