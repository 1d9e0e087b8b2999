import { GatewayError } from '../../../shared/errors.js';
import { eventText } from '../conversation/answering.js';
import type { PlacedFrame, Teller } from './events.js';
import { runOf } from './frames.js';
import { type MessagePiece, WholeMessage } from './whole-message.js';

const SERVED = ['values', 'updates', 'messages', 'messages-tuple', 'custom'] as const;

/** A mode of the classic stream. */
export type StreamMode = (typeof SERVED)[number];

/** Reads the modes of a request. @throws GatewayError `INVALID_REQUEST` with the status 422 for one that is not served */
export function readModes(given: string | readonly string[]): readonly StreamMode[] {
  const modes = [given].flat();
  const unknown = modes.find((mode) => !SERVED.some((served) => served === mode));
  if (unknown === undefined) return modes as StreamMode[];
  const message = `stream_mode: ${JSON.stringify(unknown)} is not served, only ${SERVED.join(', ')}`;
  throw new GatewayError({ code: 'INVALID_REQUEST', status: 422, message });
}

/** A client's run, and how to tell it. */
export interface ToldRun {
  readonly id: string;
  readonly threadId: string;
  readonly modes: readonly StreamMode[];
  /** The number of the client's last event. */
  readonly since: number;
}

const END = eventText('end', null);

/** Tells one run in the events of the classic stream, from its beginning to its end or its first question. */
export class RunTeller implements Teller {
  readonly #telling: ToldRun;
  readonly #modes: ReadonlySet<StreamMode>;
  readonly #interrupts: object[] = [];
  readonly start: string;
  /** The run's id in the frames. */
  #id: string;
  #isIn = false;
  #over = false;
  #values: Readonly<Record<string, unknown>> = { messages: [] };
  #message: WholeMessage | null = null;
  /** The message as it was told last, until the events of the moment are told. */
  #partial: PlacedFrame | null = null;
  /** Ids of calls that failed. */
  readonly #failed = new Set<unknown>();

  constructor(telling: ToldRun) {
    this.#telling = telling;
    this.#id = telling.id;
    this.#modes = new Set(telling.modes);
    const { id: run_id, threadId: thread_id, since } = telling;
    const metadata = eventText('metadata', { run_id, thread_id, attempt: 1 });
    this.start = since < 0 ? metadata : ':\n\n';
  }

  get over(): boolean {
    return this.#over;
  }

  /** The state that the run leaves behind. */
  get values(): Readonly<Record<string, unknown>> {
    return this.#values;
  }

  tell(frame: PlacedFrame): string {
    const { method, data, runId } = frame;
    if (method === 'lifecycle') {
      // A snapshot does not contain the questions before it, so its segment may differ from the run's.
      if (frame.isWhole && runOf(runId!).runId === runOf(this.#id).runId) this.#id = runId!;
      return runId === this.#id ? this.#bound(frame) : '';
    }
    if (!this.#isIn) return '';
    if (method === 'values') {
      this.#values = data;
      return this.#say(frame, ['values', data]);
    }
    if (method === 'messages') return this.#piece(frame);
    if (method === 'tools' && data['event'] === 'tool-error') this.#failed.add(data['tool_call_id']);
    if (method === 'custom') return this.#say(frame, ['custom', data]);
    if (method === 'input.requested')
      this.#interrupts.push({ id: data['interrupt_id'], value: data['payload'] });
    return '';
  }

  #bound(frame: PlacedFrame): string {
    const { event, error } = frame.data;
    if (event === 'running') {
      this.#isIn = true;
      return '';
    }
    this.#over = true;
    let text = '';
    if (this.#interrupts.length > 0) {
      const asked = { __interrupt__: this.#interrupts };
      this.#values = { ...this.#values, ...asked };
      text = this.#say(frame, ['updates', asked], ['values', this.#values]);
    }
    if (event === 'failed') {
      const failure = { error: 'RunFailed', message: error };
      this.#values = { ...this.#values, __error__: failure };
      text += eventText('error', failure, frame.id);
    }
    return text + END;
  }

  /** Tells a run of which only the values are left. */
  end(values: object): string {
    const isWanted = this.#modes.has('values');
    return (isWanted ? eventText('values', values) : '') + END;
  }

  #piece(frame: PlacedFrame): string {
    const piece = frame.data as unknown as MessagePiece;
    if (piece.event === 'message-start') this.#message = new WholeMessage(piece, this.#failed);
    const message = this.#message;
    if (!message) return '';
    message.take(piece);
    if (piece.event === 'message-finish') {
      this.#partial = null;
      this.#message = null;
      const whole = message.whole(piece.usage);
      const node = message.isResult ? 'tools' : 'agent';
      return this.#say(
        frame,
        ['messages', [whole], 'messages/complete'],
        ['updates', { [node]: { messages: [whole] } }],
      );
    }
    const chunk = message.chunk(piece);
    if (!chunk) return '';
    this.#partial = frame;
    return this.#chunk(frame, chunk);
  }

  /** The message that grows, as it is now: once for all events that came together, since each says all of it. */
  flush(): string {
    const frame = this.#partial;
    this.#partial = null;
    if (!frame || !this.#message || this.#message.isResult) return '';
    return this.#say(frame, ['messages', [this.#message.whole()], 'messages/partial']);
  }

  #chunk(frame: PlacedFrame, chunk: object): string {
    const { threadId: thread_id, id: run_id } = this.#telling;
    const told = [chunk, { thread_id, run_id, langgraph_checkpoint_ns: '' }];
    return this.#say(frame, ['messages-tuple', told, 'messages']);
  }

  /** Says a frame in the modes that are wanted. A client is behind it only with the last one. */
  #say(frame: PlacedFrame, ...said: readonly (readonly [StreamMode, unknown, event?: string])[]): string {
    if (frame.seq <= this.#telling.since) return '';
    const wanted = said.filter(([mode]) => this.#modes.has(mode));
    return wanted
      .map(([mode, data, event = mode], at) =>
        eventText(event, data, at === wanted.length - 1 ? frame.id : null),
      )
      .join('');
  }
}
