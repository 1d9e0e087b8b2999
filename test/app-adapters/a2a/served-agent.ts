import type { IncomingMessage } from 'node:http';
import { TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { listenOnLoopback } from '../../support/host-server.js';

const part = (content: object, more: object = {}): object => ({
  ...{ content, metadata: undefined, filename: '', mediaType: '', ...more },
});
export const text = (value: string): object => part({ $case: 'text', value });
export const data = (value: unknown): object => part({ $case: 'data', value });
export const file = (url: string): object => part({ $case: 'url', value: url }, { mediaType: 'image/png' });

/** One message to the agent, and what the test has its task say. */
export class AgentTurn {
  readonly context: RequestContext;
  readonly #bus: ExecutionEventBus;
  readonly #done: () => void;

  constructor(context: RequestContext, bus: ExecutionEventBus, done: () => void) {
    this.context = context;
    this.#bus = bus;
    this.#done = done;
  }

  /** The parts that were sent. */
  get parts(): unknown[] {
    return this.context.userMessage.parts.map(({ content }) => content?.value);
  }

  get #names() {
    return { taskId: this.context.taskId, contextId: this.context.contextId };
  }

  #message(messageId: string, parts: readonly object[]): object {
    return {
      ...{ messageId, ...this.#names, role: 2, parts, metadata: undefined },
      ...{ extensions: [], referenceTaskIds: [] },
    };
  }

  /** Tells the task: a new one, or as it was before this message. */
  begin(): this {
    const { taskId: id, contextId } = this.#names;
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
    const { task = { id, contextId, status, artifacts: [], history: [], metadata: undefined } } =
      this.context;
    this.#bus.publish(AgentEvent.task(task as never));
    return this;
  }

  state(name: keyof typeof TaskState, ...parts: readonly object[]): this {
    const message = parts.length > 0 ? this.#message(`s-${++AgentTurn.#count}`, parts) : undefined;
    const status = { state: TaskState[name], message, timestamp: new Date().toISOString() };
    this.#bus.publish(AgentEvent.statusUpdate({ ...this.#names, status, metadata: undefined } as never));
    return this;
  }

  static #count = 0;

  artifact(artifactId: string, append: boolean, ...parts: readonly object[]): this {
    const artifact = {
      artifactId,
      name: 'answer',
      description: '',
      parts,
      metadata: undefined,
      extensions: [],
    };
    this.#bus.publish(
      AgentEvent.artifactUpdate({
        ...{ ...this.#names, artifact, append, lastChunk: false, metadata: undefined },
      } as never),
    );
    return this;
  }

  /** Answers without a task. */
  message(...parts: readonly object[]): void {
    this.#bus.publish(AgentEvent.message(this.#message('m-1', parts) as never));
    this.end();
  }

  end(): void {
    this.#bus.finished();
    this.#done();
  }

  complete(...parts: readonly object[]): void {
    this.state('TASK_STATE_COMPLETED', ...parts).end();
  }
}

/** An agent served by the server of A2A's makers, which says what the test says. */
export class ServedAgent {
  readonly url: string;
  readonly turns: AgentTurn[] = [];
  readonly cancelled: string[] = [];
  readonly requests: IncomingMessage[] = [];
  /** Answers its card with this, if it is set. */
  card: object | null = null;
  #taken = 0;
  #wake: (() => void)[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  static async start({ streaming = true, rest = false, version = '1.0' } = {}): Promise<ServedAgent> {
    const app = express();
    const origin = await listenOnLoopback(app);
    const agent = new ServedAgent(origin);
    const protocolBinding = rest ? 'HTTP+JSON' : 'JSONRPC';
    const card = {
      ...{ name: 'Agent', description: 'Answers', version: '1', provider: undefined, signatures: [] },
      supportedInterfaces: [{ url: `${origin}/a2a`, protocolBinding, protocolVersion: version, tenant: '' }],
      capabilities: { streaming, pushNotifications: false, extensions: [], extendedAgentCard: false },
      ...{ defaultInputModes: ['text'], defaultOutputModes: ['text'], skills: [] },
      ...{ securitySchemes: {}, securityRequirements: [], documentationUrl: '', iconUrl: '' },
    };
    const executor: AgentExecutor = {
      execute: (context, bus) =>
        new Promise((done) => {
          agent.turns.push(new AgentTurn(context, bus, done));
          for (const wake of agent.#wake.splice(0)) wake();
        }),
      async cancelTask(taskId, bus) {
        agent.cancelled.push(taskId);
        const turn = agent.turns.findLast(({ context }) => context.taskId === taskId);
        turn?.state('TASK_STATE_CANCELED').end();
        bus.finished();
        for (const wake of agent.#wake.splice(0)) wake();
      },
    };
    const handler = new DefaultRequestHandler(card as never, new InMemoryTaskStore(), executor);
    const legacyCompat = { enabled: version !== '1.0' };
    const options = { requestHandler: handler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
    app.use((request, _, next) => {
      agent.requests.push(request);
      next();
    });
    app.use('/.well-known/agent-card.json', (request, response, next) =>
      agent.card
        ? void response.json(agent.card)
        : agentCardHandler({ agentCardProvider: handler })(request, response, next),
    );
    app.use('/a2a', rest ? restHandler(options) : jsonRpcHandler(options));
    return agent;
  }

  /** The next message that the agent gets. */
  async next(): Promise<AgentTurn> {
    this.#taken += 1;
    await this.until(() => this.turns.length >= this.#taken);
    return this.turns[this.#taken - 1]!;
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Cuts all connections, as a proxy would. */
  cut(): void {
    for (const { socket } of this.requests.splice(0)) socket.destroy();
  }
}
