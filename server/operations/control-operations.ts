import { fieldError } from '../../shared/errors.js';
import { newRunId } from '../ids.js';
import { storeTime } from '../stores/skew.js';
import type { Handlers } from './call.js';
import type { OperationEnvironment } from './environment.js';

/** The operations by which users take over from an app, hand back, and react to messages. */
export function controlOperations({
  store,
  limits: { noteLength, reactionsPerMessage },
}: OperationEnvironment): Handlers<'take-over' | 'hand-back' | 'react'> {
  const check = (field: string, text = ''): void => {
    if (text.length <= noteLength) return;
    throw fieldError(field, `must have at most ${noteLength} characters (limits.noteLength)`);
  };
  return {
    async 'take-over'({ reason, untilMs }, call) {
      check('reason', reason);
      const until = untilMs === undefined ? undefined : storeTime(store) + untilMs;
      const { id: by } = call.caller.person.user;
      return { control: await call.perform({ type: 'take-over', by, reason, until }) };
    },

    'hand-back'({ note, answer = false }, call) {
      check('note', note);
      const { caller, reach } = call;
      const { user, key: userKey } = caller.person;
      const owns = caller.trusted === true || reach.ref.scope === userKey;
      return call.perform({ type: 'hand-back', user, note, answer, runId: newRunId(), owns });
    },

    react({ messageId, value, comment }, call) {
      if (value === null && comment !== undefined) throw fieldError('comment', 'needs a value beside it');
      check('comment', comment);
      const { id: by } = call.caller.person;
      const reaction = { messageId, by, value, ...(comment !== undefined && { comment }) };
      return call.done({ type: 'react', reaction, most: reactionsPerMessage });
    },
  };
}
