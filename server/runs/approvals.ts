import * as z from 'zod';
import type { ApprovalPolicy, ConfirmPolicy, Vote } from '../../shared/approvals.js';
import { fieldError, GatewayError, GuardError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { PendingQuestion, SessionState } from '../../shared/fold.js';
import { type Confirm, hasPolicy } from '../apps/confirm-policy.js';
import { holdsAnyRole } from '../methods/call.js';
import { kind } from '../records/kind.js';
import type { RecordChange } from '../stores/records.js';
import { hashOfJson } from './canonical-json.js';
import { laneOf } from './ending.js';
import type { Answer } from './questions.js';

/** The records by which questions fall due: to be decided without people, or escalated to more of them. */
export const APPROVALS = kind<{ readonly at?: number }>({
  ...{ name: 'approval', schema: z.object({ at: z.number().exactOptional() }), endsWith: 'conversation' },
  dueOf: ({ at }) => at,
});

/** A vote on its way into the log. */
export interface Ballot {
  readonly callId: string;
  /** The voter's answer. A changed input in it has been checked. */
  readonly answer: Answer;
  /** Id of the person whose message is being answered. */
  readonly sender: string | undefined;
}

/** The result of a vote or of a due time: events, changes of the question's record, and the answer if it is decided. */
export interface Settled {
  readonly events: readonly EventDraft[];
  readonly records?: readonly RecordChange[];
  readonly decision?: Answer;
}

type PolicyQuestion = PendingQuestion & { readonly policy: ApprovalPolicy };

/**
 * The policy of a question as it is logged; undefined if the app sets none.
 *
 * @param now Time of the store's clock, in milliseconds since the epoch
 */
export function policyOf(
  given: Confirm | ConfirmPolicy,
  input: unknown,
  now: number,
): ApprovalPolicy | undefined {
  if (typeof given === 'boolean' || !hasPolicy(given)) return undefined;
  const { roles, approvals = 1, notBy, guests, expiresInMs, onExpiry = 'deny', escalate } = given;
  return {
    ...(roles && { roles: [...roles] }),
    approvals,
    ...(notBy && { notBy }),
    ...(guests && { guests }),
    ...(expiresInMs !== undefined && { expiresAt: Math.ceil(now + expiresInMs), onExpiry }),
    ...(escalate && { escalateAt: Math.ceil(now + escalate.afterMs), escalateRoles: [...escalate.roles] }),
    inputHash: inputHash(input),
  };
}

/** The hash of an input in the form that its readers have. */
export function inputHash(input: unknown): string {
  return hashOfJson(JSON.parse(JSON.stringify(input ?? null)));
}

/**
 * @throws GatewayError `INVALID_PARAMS` for an answer to a different input, or one that changes the input although others vote on it too
 */
export function assertInput(
  { inputHash: seen, input: changed }: Answer,
  { input, policy }: Pick<PendingQuestion, 'input' | 'policy'>,
): void {
  if (seen !== undefined && seen !== (policy?.inputHash ?? inputHash(input)))
    throw fieldError('inputHash', 'must be the hash of the present input');
  if (changed !== undefined && policy && policy.approvals > 1)
    throw fieldError('input', 'cannot be changed, because several people have to approve the same input');
}

/** The record by which a question falls due; null if it never does. */
export function dueRecord({
  callId,
  policy,
  escalated,
}: Pick<PendingQuestion, 'callId' | 'policy' | 'escalated'>): RecordChange | null {
  const { expiresAt = Number.POSITIVE_INFINITY, escalateAt = Number.POSITIVE_INFINITY } = policy ?? {};
  const dueAt = escalated ? expiresAt : Math.min(expiresAt, escalateAt);
  return Number.isFinite(dueAt) ? APPROVALS.put(callId, { at: dueAt }) : null;
}

/** The result of a vote, given the state of the log just before it. @throws GatewayError `ALREADY_ANSWERED`, `GUARD_DENIED` */
export function voted(state: SessionState, { callId, answer, sender }: Ballot): Settled {
  const question = openIn(state, callId);
  if (!question) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
  assertMay(question, answer, [sender, ...authorsOf(state, question.runId)]);
  const { votes = [], name, policy } = question;
  const { by, givenBy, reason, input } = answer;
  // A person's first vote stands.
  if (votes.some((vote) => personOf(vote) === personOf(answer))) return { events: [] };
  const approved = answer.approved === true;
  const vote: Vote = {
    ...{ by, approved },
    ...(reason !== undefined && { reason }),
    ...(givenBy !== undefined && { givenBy }),
  };
  const all = [...votes, vote];
  const event: EventDraft = { type: 'tool_confirmation_vote', ...baseOf(question), callId, name, ...vote };
  if (approved && all.filter((each) => each.approved).length < policy.approvals) return { events: [event] };
  const decision = { ...vote, votes: all, ...(input !== undefined && { input }) };
  const { events, ...settled } = decided(question, decision);
  return { ...settled, events: [event, ...events] };
}

/** The result of a due time, given the state of the log just before it. */
export function due(state: SessionState, callId: string, now: number): Settled {
  const question = openIn(state, callId);
  if (!question) return { events: [], records: [APPROVALS.drop(callId)] };
  if (isOver(question, now)) return expired(question);
  const { escalateAt = Number.POSITIVE_INFINITY, escalateRoles: roles = [] } = question.policy;
  const escalates = !question.escalated && escalateAt <= now;
  const next = dueRecord(escalates ? { ...question, escalated: true } : question);
  const event: EventDraft = { type: 'tool_confirmation_escalated', ...baseOf(question), callId, roles };
  return { events: escalates ? [event] : [], records: [next ?? APPROVALS.drop(callId)] };
}

/** The question of this id if it has a policy and is undecided, else null. */
export function openIn({ pending }: SessionState, callId: string): PolicyQuestion | null {
  const found = pending.find((question) => question.callId === callId);
  return found?.policy ? (found as PolicyQuestion) : null;
}

/** Whether the time of a question is over. */
export function isOver({ policy }: PolicyQuestion, now: number): boolean {
  return policy.expiresAt !== undefined && policy.expiresAt <= now;
}

function expired(question: PolicyQuestion): Settled {
  const { votes = [], policy } = question;
  const approved = policy.onExpiry === 'approve';
  return decided(question, { approved, reason: 'expired', by: 'gateway', votes, expired: true });
}

/** The decision of a question, with all that it changes. */
export function decided(question: PolicyQuestion, decision: Answer): Settled {
  const { callId, name } = question;
  const { approved = false, reason, input, by, votes = [], expired: isExpired } = decision;
  const event: EventDraft = {
    type: 'tool_confirmation_result',
    ...baseOf(question),
    callId,
    name,
    approved,
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { input }),
    by,
    votes,
    ...(isExpired && { expired: true }),
  };
  return { events: [event], records: [APPROVALS.drop(callId)], decision };
}

function baseOf({ runId }: PendingQuestion): { readonly runId?: string; readonly ts: number } {
  return { ...(runId !== undefined && { runId }), ts: Date.now() };
}

/** The person who votes: for a guest the one who gave the link, since a link may be shown by many names, and by its giver too. */
const personOf = ({ by, givenBy }: Pick<Answer, 'by' | 'givenBy'>): string => givenBy ?? by;

/** The people whose messages a run has: all since the last answer, or what its lane was sent. */
function authorsOf(state: SessionState, runId: string | undefined): readonly (string | undefined)[] {
  const lane = runId === undefined ? undefined : laneOf(state, runId);
  if (lane) return (lane.steering ?? []).map(({ senderId }) => senderId);
  const answered = state.messages.findLastIndex(({ role }) => role === 'assistant');
  return state.messages.slice(answered + 1).map(({ senderId }) => senderId);
}

function assertMay(
  { name, policy, escalated }: PolicyQuestion,
  answer: Answer,
  senders: readonly (string | undefined)[],
): void {
  const { roles: named, escalateRoles = [], notBy, guests = false } = policy;
  const { givenBy, roles } = answer;
  if (givenBy !== undefined && !guests)
    throw new GuardError({ message: `A guest has no vote on ${name}, unless the app says so (guests)` });
  if (named && !holdsAnyRole({ roles }, escalated ? [...named, ...escalateRoles] : named)) {
    throw new GuardError({
      guardType: 'role',
      message: `You need another role to decide on ${name}`,
    });
  }
  if (notBy === 'sender' && (senders.includes(personOf(answer)) || senders.includes(answer.by)))
    throw new GuardError({ message: `You asked for ${name}, so somebody else has to decide on it` });
}
