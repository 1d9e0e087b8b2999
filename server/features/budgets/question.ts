import type { HeldSession } from '../../held/held-session.js';
import { decide } from '../../held/session-approvals.js';
import { isGateCallId } from '../../ids.js';

/** Name of the question whether a run goes on beyond a budget. */
export const QUESTION = 'budget';

/** Whether a question is one of ours. An app may have a tool of the same name. */
export const isQuestion = ({ callId, name }: { readonly callId: string; readonly name: string }): boolean =>
  name === QUESTION && isGateCallId(callId);

/** The reason of an answer that no person gave: the budget has room again. */
export const OPENED = 'The budget has room again';

/** Answers the question of a run in the name of the gateway, if it is still open. The run asks again if it may not go on. */
export const opened = (held: HeldSession, { callId }: { readonly callId: string }): Promise<void> =>
  decide(held, callId, { approved: true, reason: OPENED, by: 'gateway' });
