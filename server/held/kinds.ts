import { GRANT_ADDRESSES, GRANTS } from '../grants/grant-record.js';
import type { RecordKind } from '../records/kind.js';
import { APPROVALS } from '../runs/approvals.js';
import { CHILD_ENDS } from './child-ends.js';
import { CONTROLS } from './control.js';
import { HELD_RUNS } from './held-run.js';
import { WAKINGS } from './waking.js';

/** The kinds of records of the engine itself, whose ends the kernel looks after. */
export const ENGINE_KINDS: readonly RecordKind[] = [
  ...[GRANTS, GRANT_ADDRESSES],
  ...[CONTROLS, APPROVALS, CHILD_ENDS, WAKINGS, HELD_RUNS],
];
