import type { GatewayEvent } from '../events.js';
import { reduce, type SessionState } from '../fold.js';
import type { Message } from '../messages.js';
import { SegmentStream, type SegmentWriter, type ToldPart } from '../segment-stream.js';
import type { Subagent } from '../subagents.js';
import type { AgUiEvent, AgUiNames, GivenMessage } from './events.js';
import { MessagesFold, toAgUiMessages } from './messages.js';
import { type SnapshotMessage, snapshots, type Truth } from './snapshot.js';
import { AgUiWriter } from './writer.js';

/** A client, and the session that it is told of. */
export interface AgUiReader {
  readonly names: AgUiNames;
  /** The client's messages. */
  readonly given: readonly GivenMessage[];
  /** Whether the client is told all messages of the session. @default false */
  readonly whole?: boolean;
  readonly session: SessionState;
  /** Whether `session` is the state at the first event that is told, and not a later one. */
  readonly folds: boolean;
}

/** A message, with the messages that it is for a client. */
export function heldOf(message: Message): SnapshotMessage {
  if (message.retracted) return { id: message.id, messages: [], isGone: true };
  return { id: message.id, messages: toAgUiMessages(message) };
}

/** Events that bring a client's messages in line with the session. */
export function prefaced(given: readonly GivenMessage[], truth: Truth): AgUiEvent[] {
  return snapshots(given, truth).map((messages) => ({ type: 'MESSAGES_SNAPSHOT', messages }));
}

/** The session's messages before a run's answer. */
function before({ messages }: SessionState, runId: string): readonly Message[] {
  const at = messages.findIndex((message) => message.runId === runId);
  return at < 0 ? messages : messages.slice(0, at);
}

/** Tells a run, after the events that bring its client in line with the session. */
class ReaderWriter implements SegmentWriter<AgUiEvent> {
  readonly #runId: string;
  readonly #told: ToldPart;
  readonly #reader: AgUiReader;
  readonly #writer: AgUiWriter;
  /** The part of the answer before the first event that is told. */
  readonly #ran = new MessagesFold();
  #session: SessionState;
  #index = 0;
  #isPrefaced = false;

  constructor(runId: string, told: ToldPart, reader: AgUiReader) {
    this.#runId = runId;
    this.#told = told;
    this.#reader = reader;
    this.#session = reader.session;
    this.#writer = new AgUiWriter(reader.names, { tellsAnswers: told === 'whole' });
  }

  /** Keeps the session's state up to date until it is told: a message sent to a busy session is told only after the runs before it. */
  fold(event: GatewayEvent): void {
    if (this.#reader.folds && !this.#isPrefaced) this.#session = reduce(this.#session, event);
  }

  start(): AgUiEvent[] {
    return this.#writer.start();
  }

  take(event: GatewayEvent, settled: boolean): AgUiEvent[] {
    const events = this.#noted(this.#writer.take(event, settled));
    const isFirst = event.type === 'message_start' || event.type === 'message_end';
    return isFirst && this.#isTold ? [...this.#preface(), ...events] : events;
  }

  subagent(subagent: Subagent): AgUiEvent[] {
    return this.#noted(this.#writer.subagent(subagent));
  }

  /** The protocol has no word for a block. */
  block(): AgUiEvent[] {
    return [];
  }

  pause(): AgUiEvent[] {
    return this.#noted(this.#writer.pause());
  }

  resume(): AgUiEvent[] {
    this.#writer.pass();
    this.#index += 1;
    return this.#isTold ? this.#preface() : [];
  }

  pass(): AgUiEvent[] {
    this.#writer.pass();
    return [];
  }

  #noted(events: AgUiEvent[]): AgUiEvent[] {
    if (!this.#isTold) for (const event of events) this.#ran.take(event);
    return events;
  }

  #preface(): AgUiEvent[] {
    if (this.#isPrefaced) return [];
    this.#isPrefaced = true;
    const { given, whole = false } = this.#reader;
    const held = before(this.#session, this.#runId).map(heldOf);
    return prefaced(given, {
      before: held,
      answerId: this.#writer.messageId,
      told: this.#ran.messages,
      whole,
    });
  }

  get #isTold(): boolean {
    return this.#told === 'whole' || this.#told === this.#index;
  }
}

/** A run or one of its segments, as a run of an AG-UI client. Event number N is the same for every reader that starts with nothing. */
export class AgUiStream extends SegmentStream<AgUiEvent> {
  readonly #writer: ReaderWriter;

  constructor(runId: string, told: ToldPart, reader: AgUiReader) {
    const writer = new ReaderWriter(runId, told, reader);
    super(runId, told, writer);
    this.#writer = writer;
  }

  /** The events that begin every stream. */
  start(): AgUiEvent[] {
    return this.#writer.start();
  }

  override take(event: GatewayEvent): AgUiEvent[] {
    this.#writer.fold(event);
    return super.take(event);
  }
}
