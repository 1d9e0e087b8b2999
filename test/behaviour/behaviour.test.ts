import { callBehaviour } from './call-suite.js';
import { changeBehaviour } from './change-suite.js';
import { DOORS } from './doors/index.js';
import { listBehaviour } from './list-suite.js';
import { sessionBehaviour } from './suite.js';

describe('behaviour', () => {
  for (const door of DOORS) {
    sessionBehaviour(door);
    callBehaviour(door);
    changeBehaviour(door);
    listBehaviour(door);
  }
});
