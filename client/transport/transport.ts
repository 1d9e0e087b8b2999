export type * from '../../shared/client-transport.js';
