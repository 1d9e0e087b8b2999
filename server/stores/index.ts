export type { About } from './about.js';
export * from './append.js';
export type { ByteRange, FileRecord, FileStore, FileSweep, FileUsage, FileUse } from './files/file-store.js';
export * from './listing.js';
export type {
  RecordChange,
  RecordHome,
  RecordName,
  RecordQuery,
  StoredRecord,
  Taken,
  TakeOptions,
} from './records.js';
export type { Rewrites, RewrittenEvent } from './rewrites.js';
export type { SaidChanges, SaidHit, SaidPage, SaidQuery, SaidText, SaidWithin } from './said.js';
export type {
  HeldPage,
  Member,
  Membership,
  SessionHolder,
  SharedStore,
} from './shared-store.js';
export * from './store.js';
export * from './stored.js';
export { askedWords, indexedWords } from './words.js';
