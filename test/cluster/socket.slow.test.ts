import { describeGateways } from './on-a-store.js';
import { socketPlace } from './socket-place.js';

describe('gateways that share a store over a socket', () => {
  describeGateways(socketPlace);
});
