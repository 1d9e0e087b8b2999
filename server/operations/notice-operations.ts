import { fieldError } from '../../shared/errors.js';
import type { CustomNotice, PushTarget } from '../../shared/notices.js';
import { givenId, newNoticeId } from '../ids.js';
import { noticeId } from '../notices/causes.js';
import { urlProblem } from '../notices/schema.js';
import { addPush, pushesOf, removePush } from '../notices/subscriptions.js';
import type { Handlers } from './call.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';

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
export const noticeOperations = ({
  sessions,
  store,
  notices,
  limits: { pushSubscriptions: most },
}: OperationEnvironment): Handlers<'notices' | 'push'> => ({
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
      assertTarget(add, notices.allowPrivate);
      await addPush(store, { scope, userKey }, { ...add, most });
    }
    return { publicKey, subscriptions: (await pushesOf(store, userKey)).length };
  },
});

/** A host's notice for its caller. */
interface HostNotice {
  readonly sessionId: string;
  readonly notice: CustomNotice;
  readonly caller: Caller;
}

/** Sends the caller a host's notice of a session. @throws GatewayError `SESSION_NOT_FOUND`, `INVALID_PARAMS` naming the field */
export async function notify(
  { notices, sessions }: OperationEnvironment,
  { authorize }: OperationParts,
  { sessionId, notice, caller }: HostNotice,
): Promise<{ readonly id: string }> {
  const { id: given = newNoticeId(), title, body, data } = notice;
  if (!notices) throw fieldError('notify', 'this gateway sends no notices (notify)', 'INVALID_REQUEST');
  givenId(given, 'id');
  if (typeof title !== 'string' || title === '') throw fieldError('title', 'must be a text');
  if (JSON.stringify([title, body, data]).length > DATA_LENGTH)
    throw fieldError('data', `must have at most ${DATA_LENGTH} characters of JSON, with title and body`);
  const { ref } = await authorize(sessionId, 'notify', caller);
  const session = await sessions.existing(ref);
  const { user, key: userKey } = caller.person;
  const id = noticeId('custom', session.log!.ref.epoch, given);
  const isAdded = await notices.add(
    ref,
    {
      ...{
        id,
        kind: 'custom',
        sessionId: session.id,
        app: ref.app,
        userId: user.id,
        title,
        at: Date.now(),
      },
      ...(body !== undefined && { body }),
      ...(data !== undefined && { data }),
    },
    userKey,
  );
  // It is there already, or its session was erased meanwhile.
  if (!isAdded) await sessions.existing(ref);
  return { id };
}
