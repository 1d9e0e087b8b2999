import type { ErrorCode } from '../../shared/errors.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import type { OperationName } from '../../shared/operations.js';
import type { RouteWords } from '../../shared/words.js';

/** A described request: an operation, or one of the other routes. */
export type Described = OperationName | 'events' | 'upload' | 'file' | 'live' | 'ready';

const SESSION = ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'] as const satisfies readonly ErrorCode[];

/** The routes, each with all that the documents say of it. */
export const ROUTES: Readonly<Record<Described, RouteWords>> = {
  ...OPERATION_WORDS,
  events: {
    tag: 'conversation',
    summary: 'Follow sessions',
    description:
      'A stream of events that ends by itself after some minutes, with a `retry:` line; a client then asks again with the last `id` it has seen. A stream of one session carries its cursor as `id`; any other stream carries a vector of cursors as the `id` of heartbeats.',
    errors: [...SESSION],
  },
  upload: {
    tag: 'conversation',
    summary: 'Upload a file',
    description:
      'The body is the file itself, of any type, and is read as it comes. The answer names it for the `fileId` of image, file and audio blocks. Uploading the same bytes again under the same name and type answers the same. A file is kept as long as a session names it, and for `limits.unnamedFileMs` from its upload on.',
    errors: ['QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  file: {
    tag: 'reading',
    summary: 'Read a file',
    description:
      'Files that could run in a page (HTML, SVG, scripts) are served as `application/octet-stream`, to be saved. One part can be asked for with `Range`; `HEAD` answers the same without the bytes.',
    errors: [...SESSION, 'FILE_NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
  },
  live: { tag: 'service', summary: 'Tell that the process answers' },
  ready: {
    tag: 'service',
    summary: 'Tell whether new work is taken',
    errors: ['SHUTTING_DOWN', 'OVERLOADED'],
  },
};
