import { MORE_DOORS } from './doors/index.js';
import { behaviourOf } from './every-door.js';

describe('behaviour', () => behaviourOf(MORE_DOORS));
