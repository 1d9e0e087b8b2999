import type { Store } from '../../server/stores/store.js';
import { passing } from './overriding.js';

const MEMBERS: ReadonlySet<string> = new Set(['append', 'records', 'changeRecords', 'acquire', 'run']);

/** A store that does what it is asked a turn of the event loop later, as one with a network does. */
export const laterStore = (inner: Store): Store =>
  passing(inner, (name, call) => (MEMBERS.has(name) ? new Promise(setImmediate).then(call) : call()));
