import { GatewayError } from '../../../shared/errors.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { ByteRange, FileRecord, FileStore, FileSweep, FileUsage, FileUse } from './file-store.js';
import { placeOf } from './file-store.js';

/** Limits of a file store in memory. */
export interface MemoryFilesOptions {
  /** Bytes of all files together, those being uploaded included. @default 256 MiB */
  readonly maxBytes?: number | undefined;
}

interface KeptFile {
  readonly record: FileRecord;
  readonly chunks: readonly Uint8Array[];
  readonly uses: Map<string, FileUse>;
  uploadedAt: number;
}

const MAX_BYTES = 256 * 1024 * 1024;

/** Keeps files in memory. None survives the process. */
class MemoryFiles implements FileStore {
  readonly #maxBytes: number;
  readonly #files = new Map<string, KeptFile>();
  #bytes = 0;

  constructor({ maxBytes = MAX_BYTES }: MemoryFilesOptions) {
    this.#maxBytes = maxBytes;
  }

  async put(bytes: AsyncIterable<Uint8Array>, describe: () => MaybePromise<FileRecord>): Promise<FileRecord> {
    const chunks: Uint8Array[] = [];
    let held = 0;
    try {
      for await (const chunk of bytes) {
        if (this.#bytes + chunk.byteLength > this.#maxBytes) throw full(this.#maxBytes);
        held += chunk.byteLength;
        this.#bytes += chunk.byteLength;
        // A copy: a chunk may be a small part of a large buffer.
        chunks.push(new Uint8Array(chunk));
      }
      const record = await describe();
      const key = keyOf(record.scope, record.fileId);
      const kept = this.#files.get(key);
      if (kept) {
        kept.uploadedAt = Date.now();
        return kept.record;
      }
      this.#files.set(key, { record, chunks, uses: new Map(), uploadedAt: Date.now() });
      held = 0;
      return record;
    } finally {
      this.#bytes -= held;
    }
  }

  async stat(scope: string, fileId: string): Promise<FileRecord | null> {
    return this.#files.get(keyOf(scope, fileId))?.record ?? null;
  }

  async read(scope: string, fileId: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    const kept = this.#files.get(keyOf(scope, fileId));
    return kept ? partOf(kept.chunks, range) : null;
  }

  async *list(scope: string): AsyncGenerator<FileRecord> {
    for (const { record } of [...this.#files.values()]) if (record.scope === scope) yield record;
  }

  /** A delete in memory is one step, so it leaves no remains. */
  async clear(): Promise<void> {}

  async delete(scope: string, fileId: string): Promise<void> {
    const key = keyOf(scope, fileId);
    this.#bytes -= this.#files.get(key)?.record.size ?? 0;
    this.#files.delete(key);
  }

  async usage(scope: string): Promise<FileUsage> {
    let [files, bytes] = [0, 0];
    for (const { record } of this.#files.values()) {
      if (record.scope !== scope) continue;
      files += 1;
      bytes += record.size;
    }
    return { files, bytes };
  }

  async use(scope: string, fileId: string, use: FileUse): Promise<boolean> {
    const kept = this.#files.get(keyOf(scope, fileId));
    kept?.uses.set(placeOf(use), use);
    return kept !== undefined;
  }

  async release(scope: string, fileId: string, use: FileUse): Promise<void> {
    this.#files.get(keyOf(scope, fileId))?.uses.delete(placeOf(use));
  }

  async uses(scope: string, fileId: string): Promise<readonly FileUse[]> {
    return [...(this.#files.get(keyOf(scope, fileId))?.uses.values() ?? [])];
  }

  async sweep({ before, isOver }: FileSweep): Promise<void> {
    for (const kept of [...this.#files.values()]) {
      const { scope, fileId } = kept.record;
      for (const [place, use] of [...kept.uses]) {
        const { app, name } = use;
        if (await isOver({ scope, app, name }, use)) kept.uses.delete(place);
      }
      if (kept.uses.size === 0 && kept.uploadedAt < before) await this.delete(scope, fileId);
    }
  }
}

/**
 * Keeps files in memory, for tests and for gateways whose sessions don't outlive their process either.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, files: memoryFiles({ maxBytes: 64 * 1024 * 1024 }) });
 * ```
 */
export function memoryFiles(options: MemoryFilesOptions = {}): FileStore {
  return new MemoryFiles(options);
}

const keyOf = (scope: string, fileId: string): string => `${fileId} ${scope}`;

async function* partOf(chunks: readonly Uint8Array[], range?: ByteRange): AsyncGenerator<Uint8Array> {
  const { start, end } = range ?? { start: 0, end: Number.POSITIVE_INFINITY };
  let at = 0;
  for (const chunk of chunks) {
    const from = Math.max(0, start - at);
    const to = Math.min(chunk.byteLength, end + 1 - at);
    at += chunk.byteLength;
    // A copy, so that readers cannot change the stored bytes.
    if (from < to) yield chunk.slice(from, to);
  }
}

function full(maxBytes: number): GatewayError {
  return new GatewayError({
    code: 'QUOTA_EXCEEDED',
    message: `All files together may take up ${maxBytes} bytes of memory`,
    details: { limit: 'maxBytes', bytes: maxBytes },
  });
}
