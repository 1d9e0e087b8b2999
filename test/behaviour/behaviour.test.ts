import { callBehaviour } from './call-suite.js';
import { DOORS } from './doors/index.js';
import { sessionBehaviour } from './suite.js';

describe('behaviour', () => {
  for (const door of DOORS) {
    sessionBehaviour(door);
    callBehaviour(door);
  }
});
