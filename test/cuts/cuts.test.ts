import { memoryStore } from '../../server/index.js';
import { describeCuts } from './on-a-store.js';

describeCuts('memory', memoryStore, 16);
