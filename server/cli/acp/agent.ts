import { randomUUID } from 'node:crypto';
import type { AgentApp, AgentContext, PromptResponse, SessionInfo } from '@agentclientprotocol/sdk';
import {
  type Client,
  type GatewayEvent,
  isGatewayError,
  type Message,
  type SessionState,
} from 'agent-session-gateway/client';
import { packageVersion } from '../../runtime/package-files.js';
import { fromPrompt, toUpdates } from './content.js';
import type { AcpSdk } from './sdk.js';
import { AcpTurn, RunFailed } from './turn.js';

/** Options of `Acp`: the gateway and the app that an editor talks to. */
export interface AcpOptions {
  readonly client: Client;
  /** The app of new sessions. @default the gateway's default app */
  readonly app?: string | undefined;
}

const PAGE = 100;

/** A gateway's sessions as an agent of editors: version 1 of the Agent Client Protocol. */
export class Acp {
  readonly #sdk: AcpSdk;
  readonly #client: Client;
  readonly #app: string | undefined;
  /** The editors' working folders, by session. */
  readonly #folders = new Map<string, string>();
  /** Runs under way, by session. */
  readonly #runs = new Map<string, { abort(reason?: string): Promise<unknown> }>();

  constructor(sdk: AcpSdk, { client, app }: AcpOptions) {
    this.#sdk = sdk;
    this.#client = client;
    this.#app = app;
  }

  /** The agent, for connection to a stream. */
  agent(): AgentApp {
    const none = {};
    return this.#sdk
      .agent({ name: 'agent-session-gateway' })
      .onRequest('initialize', () => ({
        protocolVersion: this.#sdk.PROTOCOL_VERSION,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          sessionCapabilities: { list: none, resume: none, close: none, delete: none },
        },
        agentInfo: { name: 'agent-session-gateway', version: packageVersion() },
        authMethods: [],
      }))
      .onRequest('authenticate', () => ({}))
      .onRequest('session/new', ({ params }) => ({ sessionId: this.#begin(params.cwd) }))
      .onRequest('session/load', ({ params, client }) => this.#load(params, client, true))
      .onRequest('session/resume', ({ params, client }) => this.#load(params, client, false))
      .onRequest('session/list', ({ params }) => this.#list(params))
      .onRequest('session/prompt', ({ params, client }) => this.#prompt(params, client))
      .onRequest('session/close', ({ params }) => this.#close(params.sessionId))
      .onRequest('session/delete', async ({ params }) => {
        await this.#client.session(params.sessionId).delete();
        return {};
      })
      .onNotification('session/cancel', ({ params }) => this.#cancel(params.sessionId));
  }

  /** Makes the name of a session, which begins with its first message. */
  #begin(cwd: string): string {
    const name = randomUUID();
    const sessionId = this.#app === undefined ? name : `${this.#app}:${name}`;
    this.#folders.set(sessionId, cwd);
    return sessionId;
  }

  async #prompt(
    { sessionId, prompt }: { readonly sessionId: string; readonly prompt: Parameters<typeof fromPrompt>[0] },
    editor: AgentContext,
  ): Promise<PromptResponse> {
    const cwd = this.#folders.get(sessionId);
    const session = this.#client.session(sessionId);
    const run = session.send({ content: fromPrompt(prompt) }, cwd === undefined ? {} : { metadata: { cwd } });
    this.#runs.set(sessionId, run);
    try {
      await run.accepted;
      if (cwd !== undefined) await this.#note(sessionId, cwd);
      const stopReason = await new AcpTurn({ client: this.#client, editor, sessionId }).follow(run);
      return { stopReason };
    } catch (error) {
      if (!isGatewayError(error) && !(error instanceof RunFailed)) throw error;
      throw new this.#sdk.RequestError(-32603, error.message);
    } finally {
      if (this.#runs.get(sessionId) === run) this.#runs.delete(sessionId);
    }
  }

  /** Keeps the folder with a session, beside what others keep there. The session of somebody else has the folder that they gave it. */
  async #note(sessionId: string, cwd: string): Promise<void> {
    const session = this.#client.session(sessionId);
    const isShared = sessionId.startsWith('~', sessionId.indexOf(':') + 1);
    try {
      const { metadata } = isShared ? { metadata: { cwd } } : await session.state();
      if (metadata?.cwd !== cwd) await session.update({ metadata: { ...metadata, cwd } });
    } catch (error) {
      // The run goes on without. To its person it must not look as if it had failed, or they ask again.
      if (!isGatewayError(error)) throw error;
    }
  }

  /** Opens a session: tells its messages, if `tells`, and follows the run under way. */
  async #load(
    { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
    editor: AgentContext,
    tells: boolean,
  ): Promise<object> {
    const session = this.#client.session(sessionId);
    await session.status().catch((error: unknown) => {
      if (!isGatewayError(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
      throw this.#sdk.RequestError.resourceNotFound(sessionId);
    });
    const state: SessionState = await session.state();
    this.#folders.set(sessionId, cwd);
    if (tells) {
      for (const message of [...(await this.#older(sessionId, state)), ...state.messages])
        await this.#tell(message, editor, sessionId);
    }
    if (state.run) this.#goOn(state, editor, sessionId, tells);
    return {};
  }

  /** Tells the run under way, after the answer to the editor's request. */
  #goOn(state: SessionState, editor: AgentContext, sessionId: string, tells: boolean): void {
    const { runId, message } = state.run!;
    const run = this.#client.session(sessionId).run(runId);
    const turn = new AcpTurn({ client: this.#client, editor, sessionId });
    const follow = async (): Promise<void> => {
      if (tells) await this.#tell(message, editor, sessionId);
      for (const question of state.pending)
        if (question.kind === 'confirmation' && question.runId === runId) turn.ask(question);
      const after = { result: run.result, [Symbol.asyncIterator]: () => this.#after(state, sessionId) };
      await turn.follow(after, message.id);
    };
    this.#runs.set(sessionId, run);
    follow()
      // The session has the run's end, and no request waits for it.
      .catch(() => {})
      .finally(() => this.#runs.delete(sessionId));
  }

  /** The events of a state's run after that state. */
  async *#after({ cursor, run }: SessionState, sessionId: string): AsyncGenerator<GatewayEvent> {
    for await (const event of this.#client.events(sessionId, { from: cursor! })) {
      if (!('runId' in event) || event.runId !== run!.runId) continue;
      yield event;
      if (event.type === 'message_end') return;
    }
  }

  async #older(sessionId: string, { hasMore, messages }: SessionState): Promise<Message[]> {
    const older: Message[] = [];
    const known = new Set(messages.map(({ id }) => id));
    let before: string | null = null;
    for (let isMore = hasMore; isMore; ) {
      const page: Awaited<ReturnType<ReturnType<Client['session']>['history']>> = await this.#client
        .session(sessionId)
        .history({
          limit: PAGE,
          ...(before !== null && { before }),
        });
      older.unshift(...page.messages.filter(({ id }) => !known.has(id)));
      before = page.cursor;
      isMore = before !== null;
    }
    return older;
  }

  async #tell(message: Message, editor: AgentContext, sessionId: string): Promise<void> {
    for (const update of toUpdates(message)) await editor.notify('session/update', { sessionId, update });
  }

  async #list({ cwd, cursor }: { readonly cwd?: string | null; readonly cursor?: string | null }): Promise<{
    sessions: SessionInfo[];
    nextCursor?: string;
  }> {
    const page = await this.#client.sessions(cursor == null ? {} : { before: cursor });
    const sessions = page.sessions.flatMap((summary): SessionInfo[] => {
      const { sessionId, app, title, preview, updatedAt, metadata } = summary;
      const folder = typeof metadata?.cwd === 'string' ? metadata.cwd : process.cwd();
      const isMeant = (this.#app === undefined || app === this.#app) && (cwd == null || folder === cwd);
      const named = title ?? preview;
      const info = { sessionId, cwd: folder, updatedAt: new Date(updatedAt).toISOString() };
      return isMeant ? [{ ...info, ...(named !== undefined && { title: named }) }] : [];
    });
    return { sessions, ...(page.cursor !== null && { nextCursor: page.cursor }) };
  }

  async #close(sessionId: string): Promise<object> {
    await this.#cancel(sessionId);
    this.#folders.delete(sessionId);
    return {};
  }

  async #cancel(sessionId: string): Promise<void> {
    await this.#runs.get(sessionId)?.abort('stopped by its user');
  }
}
