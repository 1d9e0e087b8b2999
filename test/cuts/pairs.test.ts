import { describePairs } from './pairs-on-memory.js';

describePairs(40);
