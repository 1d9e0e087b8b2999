import type { FeatureWords, OwnRouteWords } from '../words.js';
import { FILES_PATH, type FileLimits } from './contract.js';

type None = Record<never, never>;

export const FILES: FeatureWords<None, None, FileLimits> & {
  readonly routes: { readonly [Name in 'upload' | 'file']: OwnRouteWords };
} = {
  operations: {},
  routes: {
    upload: {
      ...{ http: 'POST', path: FILES_PATH },
      tag: 'conversation',
      summary: 'Upload a file',
      description:
        'The body is the file itself, of any type, and is read as it comes. The answer names it for the `fileId` of image, file and audio blocks. Uploading the same bytes again under the same name and type answers the same. A file is kept as long as a session names it, and for `limits.unnamedFileMs` from its upload on.',
      errors: ['QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
    },
    file: {
      ...{ http: 'GET', path: `${FILES_PATH}/{fileId}` },
      tag: 'reading',
      summary: 'Read a file',
      description:
        'Files that could run in a page (HTML, SVG, scripts) are served as `application/octet-stream`, to be saved. One part can be asked for with `Range`; `HEAD` answers the same without the bytes.',
      errors: ['APP_NOT_FOUND', 'SESSION_NOT_FOUND', 'FILE_NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
    },
  },
  events: {},
  limits: {
    fileBytes: { kind: 'bytes', default: 100 * 1024 * 1024 },
    userFileBytes: { kind: 'bytes', default: 1024 * 1024 * 1024 },
    filesPerSend: { kind: 'count', default: 32 },
    uploadsPerSecond: { kind: 'rate', default: 10 },
    inlineFileBytes: { kind: 'bytes', default: 20 * 1024 * 1024 },
    unnamedFileMs: { kind: 'age', default: 24 * 3_600_000 },
  },
};
