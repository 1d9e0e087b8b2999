import { fieldError } from '../../../shared/errors.js';
import type { Handlers } from '../../operations/call.js';
import type { OperationEnvironment } from '../../operations/environment.js';
import { checkNote } from '../../operations/note-length.js';

/** The operations on reactions. */
export const reactionOperations = ({
  limits: { noteLength, reactionsPerMessage },
}: OperationEnvironment): Handlers<'react'> => ({
  react({ messageId, value, comment }, call) {
    if (value === null && comment !== undefined) throw fieldError('comment', 'needs a value beside it');
    checkNote('comment', comment, noteLength);
    const { id: by } = call.caller.person;
    const reaction = { messageId, by, value, ...(comment !== undefined && { comment }) };
    return call.done({ type: 'react', reaction, most: reactionsPerMessage });
  },
});
