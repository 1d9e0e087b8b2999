import type { ParsedConfig } from '../config/parse.js';
import { channels } from '../diagnostics/channels.js';
import type { Report } from '../diagnostics/log-facts.js';
import { Guards } from '../guard/guards.js';

/** The guards of a gateway's apps, which tell the log and the diagnostics channel what they say. */
export function guardsOf(
  { guard, id: gatewayId }: Pick<ParsedConfig, 'guard' | 'id'>,
  report: Report,
): Guards {
  return new Guards(guard, {
    judged: ({ kind, run, user }, outcome, ms) => {
      if (channels.guard.hasSubscribers)
        channels.guard.publish({ gatewayId, kind, outcome, ms, ...(run && { run }), user });
    },
    failed: ({ kind, run, user }, error, onFailure, ms) => {
      const then = onFailure === 'end' ? 'the text is not said' : 'the text is said unchecked';
      const about = run && { sessionId: run.sessionId, app: run.app, runId: run.id };
      report(error, `a check of the guard failed (${kind}): ${then}`, { ...about, user: user?.id });
      if (channels.guard.hasSubscribers)
        channels.guard.publish({ gatewayId, kind, outcome: 'failed', ms, ...(run && { run }), user });
    },
  });
}
