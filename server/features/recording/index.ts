export { type DatasetEntry, type DatasetOptions, type DatasetSource, exportDataset } from './dataset.js';
export { modelFetch } from './model-fetch.js';
export { type RecordingOptions, recordInto, recording } from './recording.js';
export type { Call, CallKind, RecordedCall, RecordedTurn, Redact } from './tape.js';
export { withoutSecrets } from './tape.js';
