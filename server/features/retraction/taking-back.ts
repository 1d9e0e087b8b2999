import { isGatewayError } from '../../../shared/errors.js';
import { asUnavailable } from '../../log/unavailable.js';
import type { SessionCall } from '../../operations/call.js';
import type { OperationEnvironment } from '../../operations/environment.js';
import type { SessionRef } from '../../stores/stored.js';
import type { AskedRetraction } from './retracting.js';

const PAGE = 100;

/** Takes a message back, in a session and in the sessions that began with it. */
export type TakingBack = (
  messageId: string,
  who: { readonly [Name in 'by' | 'reason']?: string | undefined },
  call: SessionCall,
) => Promise<{ readonly ok: true }>;

export const takingBack =
  ({ sessions, store }: OperationEnvironment): TakingBack =>
  async (messageId, { by, reason }, call) => {
    const retracted = {
      at: Date.now(),
      ...(by !== undefined && { by }),
      ...(reason !== undefined && { reason }),
    };
    const asked: AskedRetraction = { messageId, retracted };
    const { ref } = call.reach;
    await call.perform({ type: 'retract', ...asked });
    const followed = new Set<string>();
    const follow = async (sessionId: string): Promise<void> => {
      followed.add(sessionId);
      for (const fork of await forksOf(sessionId)) {
        const { id } = sessions.get(fork);
        if (followed.has(id)) continue;
        try {
          await sessions.perform(fork, { type: 'retract', ...asked });
        } catch (error) {
          // The fork began before the message, or is over.
          if (!isGatewayError(error) || !/_NOT_FOUND$/.test(error.code)) throw error;
        }
        await follow(id);
      }
    };
    const forksOf = async (sessionId: string): Promise<readonly SessionRef[]> => {
      const forks: SessionRef[] = [];
      for (let after: SessionRef | undefined; ; ) {
        const page = await asUnavailable(() =>
          store.kept(ref.scope, { limit: PAGE, ...(after && { after }) }),
        );
        for (const each of page) {
          const record = await asUnavailable(() => store.record(each));
          if (record?.forkedFrom?.sessionId === sessionId) forks.push(each);
        }
        after = page.at(-1);
        if (page.length < PAGE) return forks;
      }
    };
    await follow(sessions.get(ref).id);
    return { ok: true };
  };
