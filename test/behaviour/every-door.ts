import { callBehaviour } from './call-suite.js';
import { changeBehaviour } from './change-suite.js';
import type { Door } from './doors/door.js';
import { listBehaviour } from './list-suite.js';
import { sessionBehaviour } from './suite.js';

/** What every way in does alike. */
export function behaviourOf(doors: readonly Door[]): void {
  for (const door of doors) {
    sessionBehaviour(door);
    callBehaviour(door);
    changeBehaviour(door);
    listBehaviour(door);
  }
}
