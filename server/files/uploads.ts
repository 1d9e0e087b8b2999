import { createHash, type Hash } from 'node:crypto';
import type { GatewayError } from '../../shared/errors.js';
import { LimitError } from '../limit-error.js';
import type { FileRecord, FileStore } from '../stores/files/file-store.js';
import { guarded } from './file-failure.js';
import { HEAD_BYTES, mediaTypeOf } from './media-type.js';

/** The store and limits of uploads. */
export interface UploadsOptions {
  readonly store: FileStore;
  readonly limits: { readonly fileBytes: number };
  /** Most bytes of all files of a scope together. */
  bytesIn(scope: string): number;
  report(error: unknown, what: string): void;
}

/** A file on its way in. */
export interface Upload {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Number of bytes, if known. */
  readonly length?: number | undefined;
  readonly name?: string | undefined;
  /** Media type that the uploader declares. */
  readonly mediaType?: string | undefined;
}

/** Bytes that each file counts for at least, because disks round up and records take room too. */
const SMALLEST = 4096;

/** Uploads in progress. Their bytes count before they are stored, so that several at once can't exceed the room of a scope. */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #arrivals = new Map<string, OpenUploads>();

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** Like `GatewayFiles.upload`. */
  async store(
    { scope, by }: { readonly scope: string; readonly by: string },
    upload: Upload,
  ): Promise<FileRecord> {
    const { limits, store, report } = this.#options;
    if ((upload.length ?? 0) > limits.fileBytes) throw tooLarge(limits.fileBytes);
    return guarded(report, 'keeping a file', async () => {
      const arrivals = this.#arrivals.get(scope) ?? new OpenUploads();
      this.#arrivals.set(scope, arrivals);
      arrivals.open += 1;
      const coming = new IncomingFile();
      try {
        // Note this before asking the store: its answer may lack files that are kept meanwhile.
        const landed = arrivals.landed;
        const { files, bytes } = await store.usage(scope);
        const room = { scope, arrivals, taken: Math.max(bytes, files * SMALLEST) - landed };
        this.#checkRoom(room, Math.max(upload.length ?? 0, SMALLEST));
        const kept = await store.put(this.#bounded(room, upload.bytes, coming), async () => {
          const { size, sha256 } = coming.end();
          const mediaType = await mediaTypeOf(coming.head, upload.mediaType);
          const content = JSON.stringify([scope, by, sha256, mediaType, upload.name ?? null]);
          const fileId = `file_${createHash('sha256').update(content).digest().subarray(0, 24).toString('base64url')}`;
          const named = upload.name !== undefined && { name: upload.name };
          return { fileId, scope, by, ...named, mediaType, size, sha256, createdAt: Date.now() };
        });
        arrivals.landed += kept.size;
        return kept;
      } finally {
        arrivals.coming -= coming.size;
        arrivals.open -= 1;
        if (arrivals.open === 0) this.#arrivals.delete(scope);
      }
    });
  }

  async *#bounded(
    room: UploadRoom,
    bytes: AsyncIterable<Uint8Array>,
    coming: IncomingFile,
  ): AsyncGenerator<Uint8Array> {
    const { fileBytes } = this.#options.limits;
    for await (const chunk of bytes) {
      if (coming.size + chunk.byteLength > fileBytes) throw tooLarge(fileBytes);
      this.#checkRoom(room, chunk.byteLength);
      coming.add(chunk);
      room.arrivals.coming += chunk.byteLength;
      yield chunk;
    }
  }

  #checkRoom({ scope, arrivals, taken }: UploadRoom, more: number): void {
    const allowed = this.#options.bytesIn(scope);
    const used = taken + arrivals.landed + arrivals.coming;
    if (used + more <= allowed) return;
    throw new LimitError('limits.userFileBytes', {
      code: 'QUOTA_EXCEEDED',
      message: `Your files may take up ${allowed} bytes; delete sessions with files to make room`,
      details: { limit: 'userFileBytes', bytes: allowed, used },
    });
  }
}

/** The uploads in progress of one scope. */
class OpenUploads {
  /** Number of unfinished uploads. */
  open = 0;
  /** Bytes received of those. */
  coming = 0;
  /** Bytes of uploads that were stored meanwhile. */
  landed = 0;
}

/** The remaining room for an upload. */
interface UploadRoom {
  readonly scope: string;
  readonly arrivals: OpenUploads;
  /** Bytes of the scope according to the store, without the uploads that had landed before it was asked. */
  readonly taken: number;
}

/** A file that is being received: its size, digest and first bytes. */
class IncomingFile {
  readonly #hash: Hash = createHash('sha256');
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  size = 0;

  add(chunk: Uint8Array): void {
    this.size += chunk.byteLength;
    this.#hash.update(chunk);
    if (this.#headBytes >= HEAD_BYTES) return;
    const part = chunk.slice(0, HEAD_BYTES - this.#headBytes);
    this.#headBytes += part.byteLength;
    this.#head.push(part);
  }

  get head(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#head));
  }

  end(): { size: number; sha256: string } {
    return { size: this.size, sha256: this.#hash.digest('hex') };
  }
}

function tooLarge(fileBytes: number): GatewayError {
  return new LimitError('limits.fileBytes', {
    code: 'PAYLOAD_TOO_LARGE',
    message: `A file is limited to ${fileBytes} bytes`,
    details: { limit: 'fileBytes', bytes: fileBytes },
  });
}
