import { Desk, type DeskEnvironment } from '../desk/desk.js';
import type { Assembly } from './assembly.js';
import { statsOf } from './stats.js';

/** Opens the operators' desk of a gateway. */
export function deskOf(
  parts: Assembly,
  data: DeskEnvironment['data'],
  ready: DeskEnvironment['ready'],
): Desk {
  return new Desk({
    ...parts,
    ...{ data, ready, errands: parts.sessions.cluster.errands, stats: () => statsOf(parts) },
    identify: (user) => parts.authenticator.identify(user),
  });
}
