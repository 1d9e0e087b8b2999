import { GatewayError } from '../../shared/errors.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { RunRequest } from '../runs/live-run.js';
import type { Answer } from '../runs/questions.js';
import type { Beginning, Session } from './session.js';
import type { AcceptedRun } from './session-runs.js';

/** What a session can be asked to do, with what comes of it. Plain values: whoever holds the session may be another process. */
export interface SessionWork {
  /** Takes a message in and answers it. Begins a session that is not there. */
  accept: { readonly input: { readonly request: RunRequest }; readonly output: AcceptedRun };
  /** Ends a run, or the active one; false where there is none to end. */
  abort: {
    readonly input: { readonly runId?: string | undefined; readonly reason?: string | undefined };
    readonly output: boolean;
  };
  /** Answers a confirmation, a question or a client tool's call. */
  respond: { readonly input: { readonly callId: string; readonly answer: Answer }; readonly output: void };
  /** Ends the conversation. */
  close: { readonly input: { readonly reason: string }; readonly output: void };
  /** Publishes on a channel. Begins a session that is not there. */
  publish: {
    readonly input: {
      readonly channel: string;
      readonly event: string;
      readonly payload: unknown;
      /** Whether somebody waits until it is stored, and can be told no. */
      readonly stored: boolean;
      readonly userId: string | undefined;
    };
    readonly output: void;
  };
  /** Emits a custom event. Begins a session that is not there. */
  custom: {
    readonly input: { readonly name: string; readonly payload: unknown; readonly userId: string | undefined };
    readonly output: void;
  };
}

/** One piece of work for a session. */
export type SessionInput = {
  [Type in keyof SessionWork]: { readonly type: Type } & SessionWork[Type]['input'];
}[keyof SessionWork];

/** What comes of it. */
export type OutputOf<Input extends SessionInput> = SessionWork[Input['type']]['output'];

/**
 * Does a piece of work in a session, which is held here for it: at once where it is held already. The only way in for work, at every
 * door.
 *
 * @throws GatewayError `SESSION_NOT_FOUND` where there is none and the work does not begin one, and what the work itself says
 */
export function perform<Input extends SessionInput>(
  session: Session,
  input: Input,
): MaybePromise<OutputOf<Input>> {
  const done = andThen(session.hold(createdBy(input)), (writer): MaybePromise<unknown> => {
    // A close that runs ends what it finds; whoever asks for one more waits for it.
    if (!writer && !(input.type === 'close' && session.closing))
      throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
    return work(session, input);
  });
  return done as MaybePromise<OutputOf<Input>>;
}

function work(session: Session, input: SessionInput): MaybePromise<unknown> {
  switch (input.type) {
    case 'accept':
      return session.runs.accept(input.request);
    case 'abort':
      return session.runs.abort(input.runId, input.reason);
    case 'respond':
      return session.runs.respond(input.callId, input.answer);
    case 'close':
      return session.close(input.reason);
    case 'publish': {
      const { channel, event, payload } = input;
      if (input.stored) return session.publisher.publishStored(channel, event, payload);
      return session.publisher.publish(channel, event, payload);
    }
    case 'custom':
      return session.publisher.emit(input.name, input.payload);
  }
}

/** By whom a session is begun where the work finds none. */
function createdBy(input: SessionInput): Beginning | undefined {
  if (input.type === 'accept') return { userId: input.request.user?.id, runId: input.request.runId };
  return input.type === 'publish' || input.type === 'custom' ? { userId: input.userId } : undefined;
}
