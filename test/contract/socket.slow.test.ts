import { memoryStore } from '../../server/stores/memory.js';
import { socketPlace } from './socket-place.js';
import { describeLeases } from './store-leases.js';

describeLeases('memory, over a socket', () => socketPlace(memoryStore()));
