import type { EventDraft } from '../../shared/events.js';
import type { Message, Usage } from '../../shared/messages.js';
import type { Application, Confirmation, ConfirmationRequest, TurnSession } from '../apps/application.js';
import type { Child, SpawnOptions } from '../apps/child.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { StoredFile } from '../files/stored-file.js';
import type { GuardPolicy } from '../guard/policy.js';
import type { LogWriter } from '../log/log-writer.js';
import type { AnswerWriter } from './answer-writer.js';
import type { Ballot } from './approvals.js';
import type { LiveChild } from './child.js';
import type { Ending } from './ending.js';
import type { Answer, Questions } from './questions.js';
import type { Rehearsal } from './rehearsal.js';

/** A run as its children have it. */
export interface Overseer {
  readonly app: Application;
  /** The children that it has begun or joined here, by their ids. */
  readonly children: Map<string, LiveChild>;
  /** Its answer, for which those of its children count. */
  readonly answer: AnswerWriter;
  /** Stops the clock of the run while a child waits for a person. Call the returned function when the wait is over. */
  hold(): () => void;
}

/** The surroundings and limits of a run. */
export interface RunSetting {
  readonly gatewayId: string;
  readonly session: TurnSession;
  readonly app: Application;
  /** The guards of the app; null if it has none. */
  readonly guard: GuardPolicy | null;
  /** Time limit of the app, without the time it waits for a person; milliseconds. */
  readonly runMs: number;
  /** Longest wait for a person, in milliseconds; infinite by default. */
  readonly waitMs: number;
  /** Longest answer, in characters. */
  readonly answerSize: number;
  /** Names and results of a run's steps together, in characters. */
  readonly stepsSize: number;
  /** Longest summary, in characters. */
  readonly summaryLength: number;
  /** Most variants of the session. */
  readonly variantsPerSession: number;
  /** Time of pure waiting after which the run leaves this process, in milliseconds. */
  readonly parkMs: number;
}

/** All that stands between a run and its next call. */
export interface Hindrance {
  /** Asks a person. The run waits, and may be parked. */
  readonly ask?: ConfirmationRequest;
  /** Whether the run may go on, by the answer. */
  readonly answered?: (answer: Confirmation) => MaybePromise<boolean>;
  /** Ends the run, if nobody is asked, or the answer is no. Without it the run goes on. */
  readonly ending?: Ending;
  /** Logged first. */
  readonly events?: readonly EventDraft[];
}

/** The parts of its session that a run uses. */
export interface RunPort {
  readonly setting: RunSetting;
  /** Set for a rehearsal: nothing that the app does has an effect. */
  readonly rehearsal?: Rehearsal;
  /** Tells a rehearsal of the answer that its app writes. */
  readonly rehearses?: (answer: AnswerWriter) => void;
  readonly log: Pick<
    LogWriter,
    'append' | 'view' | 'gather' | 'commit' | 'gathering' | 'stalled' | 'settled' | 'pending' | 'flowing'
  >;
  /** The open questions of the session. */
  readonly questions: Pick<Questions, 'add' | 'isOfOther'>;
  /** Aborts once the session is no longer held here. Absent in a rehearsal. */
  readonly hold?: () => AbortSignal;
  /** The time by the store's clock, in milliseconds since the epoch. */
  now(): number;
  /** Logs a vote. Null if more votes are needed. @throws GatewayError `ALREADY_ANSWERED`, `GUARD_DENIED` */
  vote(ballot: Ballot): Promise<Answer | null>;
  /** A file of the session's scope. @throws GatewayError `FILE_NOT_FOUND` */
  file(fileId: string): Promise<StoredFile>;
  /** The parent run; absent if the run has none. */
  readonly overseer?: Overseer;
  /** Begins a child run, or joins the one of that id. @throws GatewayError */
  spawn(by: Overseer, asked: SpawnOptions & { readonly app: string; readonly id: string }): Child;
  /** Takes the queued messages that steer this run. */
  steered(): readonly Message[];
  /** @throws GatewayError `INVALID_PARAMS` if the payload does not fit the channel */
  publish(channel: string, type: string, payload: unknown): void;
  /** @throws GatewayError `INVALID_PARAMS` if the payload does not fit the event */
  emit(name: string, payload: unknown): void;
  /** A call's usage with its cost, if somebody knows it. */
  priced(usage: Usage): Usage;
  /** Asked before the app of the run is called and before each call of a model. Absent if nothing ever hinders a run. */
  readonly gate?: () => MaybePromise<Hindrance | null>;
  /** Gives the session a title. */
  title(text: string): void;
  /**
   * Parks the run, which only waits until a time of the store's clock, in milliseconds since the epoch. Nobody needs to hold it until then, unless it is followed.
   *
   * @param waits Whether it still only waits
   */
  park(until: number, waits: () => boolean): void;
  /** Asks the session to end the run and to log the end. @param before Logged in one append with the end */
  end(ending: Ending, before?: EventDraft): void;
  /** Tells the gateway's operators of an error. */
  report(error: unknown, what: string): void;
  /** Tells the operators of a fact that is no error of the gateway. */
  warn(what: string, why: { readonly reason: string; readonly option: string }): void;
}
