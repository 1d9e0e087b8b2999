export type { About } from './about.js';
export type { ByteRange, FileRecord, FileStore, FileSweep, FileUsage, FileUse } from './files/file-store.js';
export type {
  HeldPage,
  HeldSession,
  Member,
  Membership,
  NoteOptions,
  Notes,
  SharedStore,
} from './shared-store.js';
export * from './store.js';
