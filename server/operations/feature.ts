import type { EndsWithGrant } from '../held/environment.js';
import type { Causes } from '../notices/causes.js';
import type { DueWork } from '../sessions/due-in-session.js';
import type { Exporters } from '../sessions/export.js';
import type { Workers } from '../sessions/perform.js';
import type { Handlers } from './call.js';
import type { OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';

/** All that a feature adds to a gateway. Its words, in `shared`, say what the gateway asks before any of it runs. */
export interface Feature {
  /** The code of its operations. */
  readonly operations?: (env: OperationEnvironment, parts: OperationParts) => Partial<Handlers>;
  /** Work in a held session. */
  readonly work?: Workers;
  /** Work that its due records ask for, by their kinds. */
  readonly due?: DueWork;
  /** Items of an export. */
  readonly exports?: Exporters;
  /** Notices that its events cause. */
  readonly causes?: Causes;
  /** The end of all that a person has by a grant, in the same append. */
  readonly endsWithGrant?: EndsWithGrant;
}
