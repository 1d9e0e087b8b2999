import { newRunId } from '../ids.js';
import { storeTime } from '../stores/skew.js';
import type { Handlers } from './call.js';
import type { OperationEnvironment } from './environment.js';
import { checkNote } from './note-length.js';

/** The operations by which users take over from an app, and hand back. */
export const controlOperations = ({
  store,
  limits: { noteLength },
}: OperationEnvironment): Handlers<'take-over' | 'hand-back'> => ({
  async 'take-over'({ reason, untilMs }, call) {
    checkNote('reason', reason, noteLength);
    const until = untilMs === undefined ? undefined : storeTime(store) + untilMs;
    const { id: by } = call.caller.person.user;
    return { control: await call.perform({ type: 'take-over', by, reason, until }) };
  },

  'hand-back'({ note, answer = false }, call) {
    checkNote('note', note, noteLength);
    const { caller, reach } = call;
    const { user, key: userKey } = caller.person;
    const owns = caller.trusted === true || reach.ref.scope === userKey;
    return call.perform({ type: 'hand-back', user, note, answer, runId: newRunId(), owns });
  },
});
