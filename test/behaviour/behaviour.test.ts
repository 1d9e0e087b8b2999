import { DOORS } from './doors/index.js';
import { behaviourOf } from './every-door.js';

describe('behaviour', () => behaviourOf(DOORS));
