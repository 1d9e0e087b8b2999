import type { EventDraft } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import type { Application, TurnSession } from '../apps/application.js';
import type { StoredFile } from '../files/stored-file.js';
import type { LogWriter } from '../log/log-writer.js';
import type { Ballot } from './approvals.js';
import type { Ending } from './ending.js';
import type { Answer, Questions } from './questions.js';

/** Where a run takes place, and what it is limited to. */
export interface RunSetting {
  readonly gatewayId: string;
  readonly session: TurnSession;
  readonly app: Application;
  /** Time for the app, without the time it waits for a person; milliseconds. */
  readonly runMs: number;
  /** Longest wait for a person, in milliseconds; infinite by default. */
  readonly waitMs: number;
  /** Longest answer, in characters. */
  readonly answerSize: number;
  /** Names and results of a run's steps together, in characters. */
  readonly stepsSize: number;
  /** After so long of waiting the run leaves this process, in milliseconds. */
  readonly parkMs: number;
}

/** All that a run reaches of its session. */
export interface RunPort {
  readonly setting: RunSetting;
  readonly log: Pick<
    LogWriter,
    'append' | 'gather' | 'commit' | 'gathering' | 'stalled' | 'settled' | 'flowing'
  >;
  /** The open questions of the session. */
  readonly questions: Pick<Questions, 'add' | 'dropRun'>;
  /** The time by the store's clock, in milliseconds since the epoch. */
  now(): number;
  /** Logs a vote. Null where more of them are needed. @throws GatewayError `ALREADY_ANSWERED`, `GUARD_DENIED` */
  vote(ballot: Ballot): Promise<Answer | null>;
  /** A file of the session's scope. @throws GatewayError `FILE_NOT_FOUND` */
  file(fileId: string): Promise<StoredFile>;
  /** Takes the messages that wait to become part of this run. */
  steered(): readonly Message[];
  /** @throws GatewayError `INVALID_PARAMS` when the payload does not fit the channel */
  publish(channel: string, type: string, payload: unknown): void;
  /** @throws GatewayError `INVALID_PARAMS` when the payload does not fit the event */
  emit(name: string, payload: unknown): void;
  /** Gives the session a title. */
  title(text: string): void;
  /** The run only waits: nobody need hold it, where nobody follows it, until then, in milliseconds since the epoch. */
  park(until: number): void;
  /** Asks for the run to end; the session logs the end. @param before Logged in one append with it */
  end(ending: Ending, before?: EventDraft): void;
  /** Tells the gateway's operators of an error. */
  report(error: unknown, what: string): void;
  /** Tells them of what is no error of the gateway's. */
  warn(what: string, why: { readonly reason: string; readonly option: string }): void;
}
