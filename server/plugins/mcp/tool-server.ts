import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { ToolOutput } from '../../apps/tool.js';
import { handOver } from '../conversation/asked.js';
import type { CallToolOptions, PluginContext, PluginSession } from '../plugin.js';
import type { RoundRequest } from './asked-calls.js';
import { callerOf, type McpCaller } from './caller.js';
import { toCallToolResult } from './content.js';
import { FILE_TEMPLATE, readFile } from './file-resources.js';
import type { ParsedOptions } from './options.js';
import { ProgressRelay } from './progress.js';
import { askingOf, formOf, linkOf, type McpQuestion, type QuestionMode, readAnswer } from './question.js';
import { type RequestState, type RoundOutcome, Rounds } from './rounds.js';
import type {
  CallToolResult,
  InputRequiredResult,
  McpSdk,
  McpServer,
  ServerContext,
  UrlElicitParams,
} from './sdk.js';
import { TASKS, type TaskInputRequest } from './task-objects.js';
import { taskServerOf } from './task-server.js';
import { type TaskDoor, Tasks } from './tasks.js';

/** The time for which a client may cache a list that no filter makes. */
const LIST_TTL_MS = 60_000;

interface ServedToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** The parts that a question needs while its call waits. */
interface AskingInCall {
  readonly session: PluginSession;
  readonly open: AbortSignal;
  readonly context: ServerContext;
  readonly caller: McpCaller;
  readonly asks: QuestionMode;
}

/** The name of the only question that a call asks. */
const CONFIRM = 'confirm';
/** The SDK's limit for a person's answer. The session's own limits end the question earlier. */
const ASKED_MS = 2 ** 31 - 1;

/** Makes the SDK's servers with the gateway's tools: one for each client session, or for each request of a client without one. */
export class ToolServers {
  readonly #sdk: McpSdk;
  readonly #context: PluginContext;
  readonly #options: ParsedOptions;
  readonly #rounds: Rounds;
  readonly #tasks: Tasks | null;
  readonly #taskServer: McpSdk['server']['Server'];

  constructor(sdk: McpSdk, context: PluginContext, options: ParsedOptions) {
    this.#sdk = sdk;
    this.#context = context;
    this.#options = options;
    this.#rounds = new Rounds(sdk, options.limits, context.peers);
    this.#taskServer = taskServerOf(sdk);
    const { sessionId, tasks } = options;
    this.#tasks = tasks && new Tasks(sdk, context, { sessionId, tasks }, this.#door);
  }

  /** @param serves `tasks`: whether its clients may know these. Those with sessions belong to revisions without them */
  create(serves: { readonly tasks: boolean } = { tasks: false }): McpServer {
    const { serverInfo, instructions, toolFilter } = this.#options;
    const tasks = serves.tasks ? this.#tasks : null;
    const Server = tasks ? this.#taskServer : this.#sdk.server.Server;
    const server = new Server(serverInfo, {
      capabilities: { tools: {}, resources: {}, ...(tasks && { extensions: { [TASKS]: {} } }) },
      ...(instructions !== undefined && { instructions }),
      // A filter's result may change from request to request.
      cacheHints: { 'tools/list': { ttlMs: toolFilter ? 0 : LIST_TTL_MS, cacheScope: 'private' } },
      requestState: { verify: this.#rounds.verify },
    });
    server.setRequestHandler('tools/list', (_request, context) => ({
      tools: [...this.#caller(context).view.listing],
    }));
    server.setRequestHandler('resources/list', () => ({ resources: [] }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [FILE_TEMPLATE] }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
      const env = { sdk: this.#sdk, context: this.#context, caller: this.#caller(context) };
      return readFile(uri, env).catch((error) => {
        throw this.#failure(error);
      });
    });
    server.setRequestHandler('tools/call', (request, context) => {
      const caller = this.#caller(context);
      const by = { caller, asks: this.#asking(server) };
      const within = tasks?.takes(server, request.params, context) ? tasks : null;
      return caller.during(() => this.#call(request.params, context, by, within));
    });
    tasks?.serve(server);
    return server;
  }

  /** The parts of the door that tasks use. */
  get #door(): TaskDoor {
    return {
      caller: (context) => this.#caller(context),
      asking: (server) => this.#asking(server),
      request: (question, asks, caller) => this.#request(question, asks, caller),
      result: (name, output) => this.#result(name, output),
      failure: (error) => this.#failure(error),
    };
  }

  #asking(server: McpServer): QuestionMode | null {
    return askingOf(server.getClientCapabilities(), this.#options.confirmUrl !== undefined);
  }

  #caller({ http }: ServerContext): McpCaller {
    const caller = callerOf(http?.authInfo);
    if (caller) return caller;
    throw this.#failure(new GatewayError({ code: 'INTERNAL', message: 'A request came without its caller' }));
  }

  async #call(
    call: ServedToolCall,
    context: ServerContext,
    { caller, asks }: { readonly caller: McpCaller; readonly asks: QuestionMode | null },
    tasks: Tasks | null,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk.server;
    const { mcpReq } = context;
    if (!caller.view.has(call.name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${call.name}`);
    const { signal, notify, _meta } = mcpReq;
    const progressToken = _meta?.progressToken;
    const relay =
      progressToken === undefined
        ? null
        : new ProgressRelay((progress) =>
            notify({ method: 'notifications/progress', params: { progressToken, ...progress } }),
          );
    try {
      const session = this.#context.session(this.#options.sessionId, caller.person);
      const round = { signal, ...(relay && { progress: relay.report }) };
      if (tasks) {
        const key = context.http?.req?.headers.get('idempotency-key') ?? undefined;
        const begun = await tasks.begin(call, { caller, asks, key, ...round });
        await relay?.flush();
        // The types of the SDK know no tasks.
        return begun as CallToolResult;
      }
      if (asks && !caller.inSession) {
        const outcome = await this.#round(call, context, { session, round, asks });
        await relay?.flush();
        return 'output' in outcome
          ? this.#result(call.name, outcome.output)
          : this.#question(outcome, asks, caller);
      }
      const asked: CallToolOptions['asked'] = (question, open) =>
        this.#askInCall(question, { session, open, context, caller, asks: asks! });
      const output = await session.callTool(call.name, call.arguments ?? {}, {
        ...round,
        ...(asks && { asked }),
      });
      await relay?.flush();
      return this.#result(call.name, output);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Serves one of the requests of a call whose responses ask the client. */
  async #round(
    call: ServedToolCall,
    context: ServerContext,
    { session, round, asks }: { session: PluginSession; round: RoundRequest; asks: QuestionMode },
  ): Promise<RoundOutcome> {
    const { mcpReq } = context;
    const state = mcpReq.requestState<RequestState>();
    if (!state) return this.#rounds.begin(session, call, { ...round, context });
    const said = readAnswer(mcpReq.inputResponses?.[CONFIRM], asks);
    const outcome = await this.#rounds.goOn(state, call, { ...round, context, said });
    if (outcome) return outcome;
    const { ProtocolError, ProtocolErrorCode } = this.#sdk.server;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This call is over: call the tool anew', {
      reason: 'invalid_request_state',
    });
  }

  #question(
    { question, requestState }: { question: McpQuestion; requestState: string },
    asks: QuestionMode,
    caller: McpCaller,
  ): InputRequiredResult {
    const { inputRequired } = this.#sdk.server;
    const confirm =
      asks === 'url'
        ? inputRequired.elicitUrl(this.#link(question, caller))
        : inputRequired.elicit(formOf(question));
    return inputRequired({ inputRequests: { [CONFIRM]: confirm }, requestState });
  }

  #link(question: McpQuestion, { person }: McpCaller): UrlElicitParams {
    return linkOf(question, this.#options.confirmUrl!(question, { user: person.user }));
  }

  #request(question: McpQuestion, asks: QuestionMode, caller: McpCaller): TaskInputRequest['params'] {
    return asks === 'url' ? this.#link(question, caller) : formOf(question);
  }

  /** Asks a client that waits for the result of its call. The first answer counts, here or elsewhere. */
  async #askInCall(
    question: McpQuestion,
    { session, open, context, caller, asks }: AskingInCall,
  ): Promise<void> {
    const { mcpReq } = context;
    const params = this.#request(question, asks, caller);
    const form = await mcpReq.send(
      { method: 'elicitation/create', params: { ...params } },
      { signal: open, timeout: ASKED_MS },
    );
    const said = readAnswer(form, asks) ?? { approved: false };
    if (said === 'elsewhere') {
      const complete = {
        method: 'notifications/elicitation/complete',
        params: { elicitationId: question.callId },
      };
      // A client that is gone need not hear of it.
      const tell = () => void mcpReq.notify(complete as never).catch(() => {});
      if (open.aborted) tell();
      else open.addEventListener('abort', tell, { once: true });
      return;
    }
    await handOver(session, question.callId, { kind: 'confirmation', ...said });
  }

  /** Answers the calls that outlive this gateway. */
  drain(): void {
    this.#tasks?.drain();
  }

  /** Ends the calls that wait for an answer. */
  close(): void {
    this.#rounds.close();
  }

  #result(name: string, output: ToolOutput): CallToolResult {
    try {
      return toCallToolResult(output);
    } catch (error) {
      this.#context.report(error, `the result of the tool ${name} cannot be written as JSON`);
      return { content: [{ type: 'text', text: 'The tool failed' }], isError: true };
    }
  }

  /** An error of the protocol, with the gateway's own message, but nothing of an unknown error. */
  #failure(error: unknown): Error {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk.server;
    if (error instanceof ProtocolError) return error;
    if (isGatewayError(error) && error.code !== 'INTERNAL') {
      const { code, retryAfterMs } = error;
      const data = { code, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      return new ProtocolError(ProtocolErrorCode.InternalError, error.message, data);
    }
    this.#context.report(error, 'an MCP request failed');
    return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
  }
}
