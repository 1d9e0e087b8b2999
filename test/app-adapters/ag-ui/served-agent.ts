import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AGUIEvent, RunAgentInput } from '@ag-ui/core';
import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import { EventEncoder } from 'ag-ui-encoder';
import { listenOnLoopback } from '../../support/host-server.js';

/** One request to an agent, and the test's answer to it, written by the encoder of AG-UI's makers. */
export class AgentRequest {
  readonly input: RunAgentInput;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  /** Resolves when the connection is gone, or the answer was sent. */
  readonly closed: Promise<void>;
  readonly #encoder = new EventEncoder();

  constructor(input: RunAgentInput, headers: IncomingHttpHeaders, response: ServerResponse) {
    this.input = input;
    this.headers = headers;
    this.response = response;
    this.closed = new Promise((resolve) => response.once('close', resolve));
  }

  /** Whether the whole answer was sent, as opposed to a connection that the caller cut. */
  get finished(): boolean {
    return this.response.writableFinished;
  }

  tell(...events: readonly object[]): this {
    if (!this.response.headersSent)
      this.response.writeHead(200, { 'content-type': this.#encoder.getContentType() });
    for (const event of events) this.response.write(this.#encoder.encodeSSE(event as AGUIEvent as never));
    return this;
  }

  start(): this {
    const { threadId, runId } = this.input;
    return this.tell({ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' });
  }

  open(messageId = 'm1'): this {
    return this.tell({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
  }

  text(delta: string, messageId = 'm1'): this {
    return this.tell({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
  }

  /** A whole message. */
  say(text: string, messageId = 'm1'): this {
    return this.open(messageId).text(text, messageId).tell({ type: 'TEXT_MESSAGE_END', messageId });
  }

  call(toolCallId: string, toolCallName: string, input: unknown, parentMessageId?: string): this {
    const delta = JSON.stringify(input);
    return this.tell(
      { type: 'TOOL_CALL_START', toolCallId, toolCallName, ...(parentMessageId && { parentMessageId }) },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: delta.slice(0, 3) },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: delta.slice(3) },
      { type: 'TOOL_CALL_END', toolCallId },
    );
  }

  result(toolCallId: string, content: string): this {
    return this.tell({
      type: 'TOOL_CALL_RESULT',
      ...{ messageId: `${toolCallId}-r`, toolCallId, content, role: 'tool' },
    });
  }

  finish(more: object = {}): void {
    const { threadId, runId } = this.input;
    this.tell({ type: 'RUN_FINISHED', threadId, runId, ...more }).response.end();
  }

  interrupt(...interrupts: readonly object[]): void {
    this.finish({ outcome: { type: 'interrupt', interrupts } });
  }
}

/** An agent that answers as the test says. */
export class ServedAgent {
  readonly url: string;
  readonly asked: AgentRequest[] = [];
  #heard: (() => void)[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  static async start(): Promise<ServedAgent> {
    let agent: ServedAgent | undefined;
    const origin = await listenOnLoopback(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      // The schema of the protocol judges what the adapter sends.
      const input = RunAgentInputSchema.parse(JSON.parse(Buffer.concat(pieces).toString()));
      agent!.asked.push(new AgentRequest(input as RunAgentInput, request.headers, response));
      for (const heard of agent!.#heard.splice(0)) heard();
    });
    agent = new ServedAgent(`${origin}/agent`);
    return agent;
  }

  /** The nth request, the first that is not yet taken by default. */
  async next(nth = ++this.#taken): Promise<AgentRequest> {
    this.#taken = nth;
    while (this.asked.length < nth) await new Promise<void>((resolve) => this.#heard.push(resolve));
    return this.asked[nth - 1]!;
  }

  #taken = 0;
}
