import type { GatewayEvent } from '../../shared/events.js';
import type { Act } from '../diagnostics/audit-entry.js';
import type { LogRef, StoredEvent } from '../stores/stored.js';
import type { CommitWatcher } from '../stores/watched-store.js';
import type { Audit } from './audit.js';

type OwnAct = Pick<Act, 'act' | 'about'>;

/** The act of an event that the gateway has made by itself; null where a person or app has made it. */
function actOf({ type, body }: StoredEvent): OwnAct | null {
  switch (type) {
    case 'tool_confirmation_required': {
      const { callId, policy } = JSON.parse(body) as GatewayEvent & { readonly type: typeof type };
      return policy ? { act: 'open-approval', about: { callId } } : null;
    }
    case 'tool_confirmation_escalated': {
      const { callId } = JSON.parse(body) as GatewayEvent & { readonly type: typeof type };
      return { act: 'escalate-approval', about: { callId } };
    }
    case 'tool_confirmation_result': {
      const { callId, approved, by, votes, expired } = JSON.parse(body) as GatewayEvent & {
        readonly type: typeof type;
      };
      if (expired) return { act: 'expire-approval', about: { callId, approved } };
      // A person who has this name has a vote.
      const isOwn = by === 'gateway' && votes?.length === 0;
      return isOwn ? { act: 'decide-approval', about: { callId, approved } } : null;
    }
    default:
      return null;
  }
}

/** Notes what the gateway does with approvals by itself, once it is in the log. */
export const notesOwnActs =
  (audit: Audit): CommitWatcher =>
  ({ home, events }) => {
    for (const event of events) {
      const act = actOf(event);
      if (!act) continue;
      const ref = home as LogRef;
      const of = { scope: ref.scope, sessionId: audit.nameOf(ref) };
      audit.note({ ...act, door: 'gateway', by: null, ...of, outcome: 'ok' });
    }
  };
