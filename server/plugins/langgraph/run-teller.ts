import type { PlacedFrame, Teller } from './events.js';
import { runOf } from './frames.js';

/** A client's run, and how to tell it. */
export interface ToldRun {
  readonly id: string;
  readonly threadId: string;
  readonly modes: string | readonly string[];
  /** The number of the client's last event. */
  readonly since: number;
}

const END = 'event: end\ndata: null\n\n';

/** Tells one run in the events of the classic stream, from its beginning to its end or its first question. */
export class RunTeller implements Teller {
  readonly #telling: ToldRun;
  readonly #modes: ReadonlySet<string>;
  readonly #interrupts: object[] = [];
  readonly start: string;
  /** The run's id in the frames. */
  #id: string;
  #isIn = false;
  #over = false;
  #values: Readonly<Record<string, unknown>> = { messages: [] };
  #message: { readonly id: string; readonly role: string; readonly call?: string; readonly name?: string } = {
    id: '',
    role: 'ai',
  };

  constructor(telling: ToldRun) {
    this.#telling = telling;
    this.#id = telling.id;
    this.#modes = new Set([telling.modes].flat());
    const { id: run_id, threadId: thread_id, since } = telling;
    const metadata = `event: metadata\ndata: ${JSON.stringify({ run_id, thread_id, attempt: 1 })}\n\n`;
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
      return this.#say(frame, 'values', data);
    }
    if (method === 'messages') return this.#piece(frame);
    if (method === 'custom') return this.#say(frame, 'custom', data);
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
      this.#values = { ...this.#values, __interrupt__: this.#interrupts };
      text = this.#say(frame, 'values', this.#values);
    }
    if (event === 'failed') {
      const failure = { error: 'RunFailed', message: error };
      this.#values = { ...this.#values, __error__: failure };
      text += eventText(frame.id, 'error', failure);
    }
    return text + END;
  }

  /** Tells a run of which only the values are left. */
  end(values: object): string {
    const isWanted = this.#modes.has('values');
    return (isWanted ? `event: values\ndata: ${JSON.stringify(values)}\n\n` : '') + END;
  }

  #piece(frame: PlacedFrame): string {
    const { data } = frame;
    const { event, index, content, delta } = data as {
      readonly event: string;
      readonly index?: number;
      readonly content?: Readonly<Record<string, unknown>>;
      readonly delta?: { readonly type: string; readonly text?: string; readonly reasoning?: string };
    };
    if (event === 'message-start') {
      const { id, role, tool_call_id: call, name } = data as Readonly<Record<string, string>>;
      this.#message = {
        id: id!,
        role: role!,
        ...(call !== undefined && { call }),
        ...(name !== undefined && { name }),
      };
      return '';
    }
    const { id, role, call, name } = this.#message;
    const isFinish = event === 'content-block-finish';
    if (role === 'tool')
      return isFinish
        ? this.#chunk(frame, { type: 'tool', id, name, tool_call_id: call, content: content?.['text'] })
        : '';
    const ai = { type: 'AIMessageChunk', id };
    if (event === 'content-block-delta' && delta?.type === 'text-delta')
      return this.#chunk(frame, { ...ai, content: delta.text });
    if (event === 'content-block-delta')
      return this.#chunk(frame, {
        ...ai,
        content: [{ type: 'reasoning', reasoning: delta?.reasoning, index }],
      });
    if (isFinish && content?.['type'] === 'tool_call') {
      const { id: callId, name: called, args } = content;
      const chunk = { type: 'tool_call_chunk', id: callId, name: called, args: JSON.stringify(args), index };
      return this.#chunk(frame, { ...ai, content: '', tool_calls: [content], tool_call_chunks: [chunk] });
    }
    return '';
  }

  #chunk(frame: PlacedFrame, chunk: object): string {
    const { threadId: thread_id, id: run_id } = this.#telling;
    return this.#say(frame, 'messages', [chunk, { thread_id, run_id, langgraph_checkpoint_ns: '' }]);
  }

  #say(frame: PlacedFrame, event: 'values' | 'messages' | 'custom', data: unknown): string {
    const isWanted = this.#modes.has(event === 'messages' ? 'messages-tuple' : event);
    return isWanted && frame.seq > this.#telling.since ? eventText(frame.id, event, data) : '';
  }
}

function eventText(id: string, event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\nid: ${id}\n\n`;
}
