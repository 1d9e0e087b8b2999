import { fieldError } from '../../../shared/errors.js';
import type { Notice, PushTarget } from '../../../shared/notices/contract.js';
import { givenId, idOf, newNoticeId } from '../../ids.js';
import type { Handlers } from '../../operations/call.js';
import type { OperationEnvironment } from '../../operations/environment.js';
import type { HostHandlers } from '../../operations/feature.js';
import type { Notices } from './notices.js';
import { urlProblem } from './schema.js';
import { addPush, pushesOf, removePush } from './subscriptions.js';

/** Largest size of a host's notice, in characters of JSON. */
const DATA_LENGTH = 4096;
const ENDPOINT_LENGTH = 2048;
/** Encryption keys of a browser's push subscription, with their sizes in bytes. */
const KEY_BYTES = [
  ['p256dh', 65],
  ['auth', 16],
] as const;

/** @throws GatewayError `INVALID_PARAMS` naming the field, for a forbidden address or malformed keys */
function assertTarget({ endpoint, keys }: PushTarget, allowPrivate: boolean): void {
  const problem =
    endpoint.length > ENDPOINT_LENGTH
      ? `must have at most ${ENDPOINT_LENGTH} characters`
      : urlProblem(endpoint, allowPrivate);
  if (problem !== undefined) throw fieldError('add.endpoint', problem);
  for (const [name, bytes] of KEY_BYTES)
    if (!/^[\w-]+=*$/.test(keys[name]) || Buffer.from(keys[name], 'base64url').length !== bytes)
      throw fieldError(`add.keys.${name}`, `must be ${bytes} bytes in base64url`);
}

/** The operations on notices and push subscriptions, which reach users that are away. */
export const noticeOperations = (
  { sessions, store, owners, limits: { pushSubscriptions: most } }: OperationEnvironment,
  notices: Notices | null,
): Handlers<'notices' | 'push'> => ({
  /** The caller's notices of a session, and in its own scope also those to the scope. */
  async notices(_params, { reach: { ref, via }, caller }) {
    await sessions.existing(ref);
    const { key: userKey } = caller.person;
    const isOwn = (to: string): boolean => to === userKey || (!via && to === ref.scope);
    return { notices: (await notices?.states(ref, isOwn)) ?? [] };
  },

  async push({ add, remove }, { caller }) {
    const { scope, key: userKey } = caller.person;
    const publicKey = notices?.publicKey ?? null;
    if (remove !== undefined) await removePush(store, { scope, userKey }, remove);
    if (add) {
      if (!notices || publicKey === null)
        throw fieldError('add', 'this gateway sends no pushes (notify.push)');
      assertTarget(add, notices.options.allowPrivate ?? false);
      await addPush({ store, owners }, { scope, userKey }, { ...add, most });
    }
    return { publicKey, subscriptions: (await pushesOf(store, userKey)).length };
  },
});

/** Sends the caller a host's notice of a session. @throws GatewayError `SESSION_NOT_FOUND`, `INVALID_PARAMS` naming the field */
export const notifying =
  ({ sessions }: OperationEnvironment, notices: Notices | null): HostHandlers['notify'] =>
  async ({ notice }, { reach: { ref }, caller }) => {
    const { id: given = newNoticeId(), title, body, data } = notice;
    if (!notices) throw fieldError('notify', 'this gateway sends no notices (notify)', 'INVALID_REQUEST');
    givenId(given, 'id');
    if (typeof title !== 'string' || title === '') throw fieldError('title', 'must be a text');
    if (JSON.stringify([title, body, data]).length > DATA_LENGTH)
      throw fieldError('data', `must have at most ${DATA_LENGTH} characters of JSON, with title and body`);
    const session = await sessions.existing(ref);
    const { user, key: userKey } = caller.person;
    const id = idOf('custom', session.log!.ref.epoch, given);
    const told: Notice = {
      ...{ id, kind: 'custom', sessionId: session.id, app: ref.app, userId: user.id, title, at: Date.now() },
      ...(body !== undefined && { body }),
      ...(data !== undefined && { data }),
    };
    // It is there already, or its session was erased meanwhile.
    if (!(await notices.add(ref, told, userKey))) await sessions.existing(ref);
    return { id };
  };
