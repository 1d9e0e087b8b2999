/** The route that files are uploaded to; each is read below it, by its id. */
export const FILES_PATH = '/files';

/** An uploaded file. */
export interface UploadedFile {
  /** The file's id for message blocks. Equal for the same bytes of the same user, under the same name and type. */
  readonly fileId: string;
  /** Its URL, relative to the address that it was uploaded to. */
  readonly url: string;
  readonly name?: string;
  /** The media type, found from the bytes. */
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
}

/** The limits of files. */
export interface FileLimits {
  /** Size of an uploaded file, in bytes. @default 100 MiB */
  readonly fileBytes: number;
  /** Bytes of all files of a scope. Each counts as at least 4 KiB. @default 1 GiB */
  readonly userFileBytes: number;
  /** Files that one message may name. @default 32 */
  readonly filesPerSend: number;
  /** Files a user may upload, sustained; bursts may be twice as many. @default 10 */
  readonly uploadsPerSecond: number;
  /** Bytes of a file that are read into memory, by `turn.file(id).bytes()` and for models. @default 20 MiB */
  readonly inlineFileBytes: number;
  /** Time that a file is kept while no message names it, from its last upload on. @default 24 h */
  readonly unnamedFileMs: number;
}
