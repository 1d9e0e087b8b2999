import { isGatewayError } from '../../shared/errors.js';
import type { SessionState } from '../../shared/fold.js';
import type { PluginSession } from './plugin.js';

/** What a session is like now; null where it has not begun. */
export async function stateOf(session: PluginSession): Promise<SessionState | null> {
  try {
    await session.status();
  } catch (error) {
    if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return null;
    throw error;
  }
  for await (const event of session.events({ from: 'snapshot' }))
    if (event.type === 'snapshot') return event.state;
  return null;
}
