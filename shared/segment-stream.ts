import type { GatewayEvent } from './events.js';
import type { SessionState } from './fold.js';
import type { Message } from './messages.js';
import { asking, type Said, saidIn, type UnsaidBlock } from './said.js';
import { type AskingEvent, type Piece, Segmenter } from './segments.js';
import { questionsOf, type Subagent } from './subagents.js';

/** Tells a run's events in the frames of a protocol: a fold without clock or chance. */
export interface SegmentWriter<Frame> {
  /** @param settled For a question: it is no longer open, so that nobody is asked. The number of frames stays the same. */
  take(event: GatewayEvent, settled: boolean): readonly Frame[];
  /** Content that has no event. */
  block(block: UnsaidBlock): readonly Frame[];
  /** The segment ends at a question. @param cursor Place of the question */
  pause(cursor: string | undefined): readonly Frame[];
  /** The next segment begins. */
  resume(): readonly Frame[];
  /** Continues after an answered question, where a new segment could begin. */
  pass(): readonly Frame[];
  /** A child run began, grew, asks or ended. Writers of protocols without a word for it leave this out. */
  subagent?(subagent: Subagent): readonly Frame[];
  /** Whether the client is asked this question, so that the segment ends. @default it is */
  asks?(event: AskingEvent): boolean;
}

/** The told part of a run: one of its segments by index, or all of it up to an open question. */
export type ToldPart = number | 'whole';

/** A run, or one of its segments, as the frames of a protocol. Frame number N is the same for every reader. */
export class SegmentStream<Frame> {
  readonly #runId: string;
  readonly #told: ToldPart;
  readonly #segments: Segmenter;
  readonly #writer: SegmentWriter<Frame>;
  #index = 0;
  #over = false;
  #ended = false;

  constructor(runId: string, told: ToldPart, writer: SegmentWriter<Frame>) {
    this.#runId = runId;
    this.#told = told;
    this.#writer = writer;
    const asks = (event: AskingEvent): boolean => writer.asks?.(event) ?? true;
    this.#segments = new Segmenter(runId, { through: told === 'whole', asks });
  }

  /** Whether everything was told. */
  get over(): boolean {
    return this.#over;
  }

  /** Whether the end of the run was told. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the told part has begun. */
  get begun(): boolean {
    return this.#isTold;
  }

  /** Whether `head` must be called if no event follows the last one. */
  get asking(): boolean {
    return !this.#over && this.#segments.asking;
  }

  /** Takes the next event of the session. */
  take(event: GatewayEvent): Frame[] {
    return this.#tell(this.#segments.take(event));
  }

  /** Notes that no event follows the last one yet. */
  head(): Frame[] {
    return this.#tell(this.#segments.head());
  }

  /** Begins in the middle of the run, from a snapshot: each block becomes one delta. Null if the snapshot has nothing of the run. */
  begin(state: SessionState): Frame[] | null {
    const { run, messages } = state;
    const runId = this.#runId;
    const isOpen = run?.runId === runId;
    const answer = isOpen ? run.message : messages.findLast((message) => message.runId === runId);
    if (!answer) return null;
    const frames = this.say(answer);
    if (!isOpen) return frames;
    frames.push(...this.#tell(this.#segments.adopt(state)));
    return [...frames, ...questionsOf(state, runId).flatMap((question) => this.take(asking(question)))];
  }

  /** Tells an answer from its history, each block as one piece. Questions are left out; open ones are asked after it. */
  say(answer: Message): Frame[] {
    return saidIn(answer, this.#runId).flatMap((said) => this.#said(said));
  }

  #said(said: Said): Frame[] {
    if ('event' in said) return this.#piece({ type: 'event', event: said.event, settled: true });
    if ('subagent' in said) return this.#piece({ type: 'subagent', ...said });
    const frames = this.#writer.block(said.block);
    return this.#isTold ? [...frames] : [];
  }

  #tell(pieces: readonly Piece[]): Frame[] {
    return pieces.flatMap((piece) => this.#piece(piece));
  }

  #piece(piece: Piece): Frame[] {
    if (this.#over) return [];
    if (piece.type === 'event') {
      const frames = this.#writer.take(piece.event, piece.settled);
      const isTold = this.#isTold;
      if (piece.event.type === 'message_end') {
        this.#over = true;
        this.#ended = isTold;
      }
      return isTold ? [...frames] : [];
    }
    if (piece.type === 'subagent') {
      const frames = this.#writer.subagent?.(piece.subagent) ?? [];
      return this.#isTold ? [...frames] : [];
    }
    if (piece.passed) return [...this.#writer.pass()];
    const end = this.#writer.pause(piece.cursor);
    if (this.#isTold) {
      this.#over = true;
      return [...end];
    }
    this.#index += 1;
    const start = this.#writer.resume();
    return this.#isTold ? [...start] : [];
  }

  get #isTold(): boolean {
    return this.#told === 'whole' || this.#told === this.#index;
  }
}
