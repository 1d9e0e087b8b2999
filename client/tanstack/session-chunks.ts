import type { AgUiEvent } from '../../shared/ag-ui/events.js';
import { type TanStackMessage, toTanStackMessages } from '../../shared/ag-ui/tanstack.js';
import { AgUiWriter } from '../../shared/ag-ui/writer.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { asking, saidIn } from '../../shared/said.js';
import { type Piece, Segmenter } from '../../shared/segments.js';
import { questionsOf } from '../../shared/subagents.js';

/** A chunk of TanStack AI. Its messages are TanStack's own. A run that goes on behind a question names the run that asked. */
export type Chunk =
  | AgUiEvent
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly object[] }
  | { readonly type: 'RUN_STARTED'; readonly runId: string; readonly parentRunId?: string };

/** The page's knowledge of the runs that it has begun. */
export interface OwnRuns {
  /** The page's id of a run that it has begun or answered; undefined for the run of another client. */
  nameOf(runId: string): string | undefined;
  /** Messages that the page shows and whose runs have not begun. */
  unsent(state: SessionState): readonly object[];
}

/**
 * Tells a whole session in the chunks of TanStack AI: the shown conversation when a run begins, and each run in parts that end at
 * questions, whichever client began it. Feed it each event of the session once, in order.
 */
export class SessionChunks {
  readonly #threadId: string;
  readonly #own: OwnRuns;
  #state: SessionState = initialState;
  /** The state before the last event. */
  #before: SessionState = initialState;
  #telling: ToldChunks | null = null;

  constructor(threadId: string, own: OwnRuns) {
    this.#threadId = threadId;
    this.#own = own;
  }

  /** Whether it must learn whether another event follows the last one. */
  get asking(): boolean {
    return this.#telling?.segments.asking ?? false;
  }

  take(event: GatewayEvent): Chunk[] {
    if (event.type === 'gap') return [];
    this.#before = this.#state;
    this.#state = event.type === 'snapshot' ? event.state : reduce(this.#state, event);
    if (event.type === 'snapshot') return [this.#shown(), ...this.#reopened()];
    if (event.type === 'message_start') {
      const telling = this.#begun(event.runId!, false);
      return [this.#shown(), ...telling.started(), ...telling.take(telling.segments.take(event))];
    }
    // The conversation now shows other messages.
    if (event.type === 'history_moved' && !this.#state.run) return [this.#shown()];
    return this.#told((segments) => segments.take(event));
  }

  /** Tells it that nothing follows the last event yet. */
  head(): Chunk[] {
    return this.#told((segments) => segments.head());
  }

  #told(next: (segments: Segmenter) => readonly Piece[]): Chunk[] {
    const telling = this.#telling;
    if (!telling) return [];
    const chunks = telling.take(next(telling.segments));
    if (telling.over) this.#telling = null;
    return chunks;
  }

  #shown(state = this.#state, answer: readonly Message[] = []): Chunk {
    const said = toTanStackMessages([...state.messages, ...answer]).map(dated);
    return { type: 'MESSAGES_SNAPSHOT', messages: [...said, ...this.#own.unsent(state)] };
  }

  #begun(runId: string, runsTools: boolean): ToldChunks {
    const named = { threadId: this.#threadId, runId, runsTools };
    this.#telling = new ToldChunks(named, {
      nameOf: () => this.#own.nameOf(runId),
      shown: () => this.#shown(this.#before, this.#before.run ? [this.#before.run.message] : []),
    });
    return this.#telling;
  }

  /** The run of a snapshot, with its open questions. A page that was opened again runs its own tools, too. */
  #reopened(): Chunk[] {
    const { run } = this.#state;
    this.#telling = null;
    if (!run) return [];
    const telling = this.#begun(run.runId, true);
    const chunks = telling.started();
    for (const said of saidIn(run.message, run.runId))
      if ('event' in said) chunks.push(...telling.writer.take(said.event, true));
    chunks.push(...telling.take(telling.segments.adopt(this.#state)));
    const asked = questionsOf(this.#state, run.runId);
    for (const question of asked) chunks.push(...telling.writer.take(asking(question)));
    return asked.length > 0 ? [...chunks, ...telling.paused()] : chunks;
  }
}

/** A run as the page has it. */
interface RunInPage {
  /** The page's own id of it; undefined for the run of another client. */
  nameOf(): string | undefined;
  /** The conversation with the answer, up to the last event. */
  shown(): Chunk;
}

/** A run that is being told. */
class ToldChunks {
  readonly segments: Segmenter;
  readonly writer: AgUiWriter;
  readonly #names: { threadId: string; runId: string; version: '1.0'; waitsToRun: boolean };
  readonly #runId: string;
  readonly #page: RunInPage;
  #part = 0;
  #isPaused = false;
  over = false;

  constructor(
    { threadId, runId, runsTools }: { threadId: string; runId: string; runsTools: boolean },
    page: RunInPage,
  ) {
    this.#runId = runId;
    this.#page = page;
    const own = page.nameOf();
    const waitsToRun = runsTools || own !== undefined;
    this.#names = { threadId, runId: own ?? runId, version: '1.0', waitsToRun };
    this.segments = new Segmenter(runId, { through: false });
    this.writer = new AgUiWriter(this.#names, { tellsAnswers: true });
  }

  started(parentRunId?: string): Chunk[] {
    return this.writer
      .start()
      .map((chunk) => (parentRunId === undefined ? chunk : ({ ...chunk, parentRunId } as Chunk)));
  }

  paused(): Chunk[] {
    this.#isPaused = true;
    return this.writer.pause();
  }

  take(pieces: readonly Piece[]): Chunk[] {
    return pieces.flatMap((piece) => {
      if (piece.type === 'pause') return this.paused();
      const resumed = this.#isPaused ? this.#resumed() : [];
      if (piece.type === 'subagent') return [...resumed, ...this.writer.subagent(piece.subagent)];
      if (piece.event.type === 'message_end') this.over = true;
      return [...resumed, ...this.writer.take(piece.event)];
    });
  }

  #resumed(): Chunk[] {
    this.#isPaused = false;
    this.#part += 1;
    const parent = this.#names.runId;
    const own = this.#page.nameOf();
    const isOwn = own !== undefined && own !== parent;
    this.#names.runId = isOwn ? own : `${this.#runId}:${this.#part}`;
    this.writer.pass();
    // Without a new id of this page, another client has answered: only a snapshot has the page hear of an answer's end again.
    return [...(isOwn ? [] : [this.#page.shown()]), ...this.started(parent)];
  }
}

function dated({ createdAt, ...message }: TanStackMessage): object {
  return { ...message, createdAt: new Date(createdAt) };
}
