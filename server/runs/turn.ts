import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isGatewayError } from '../../shared/errors.js';
import { type Message, textOf, type Usage } from '../../shared/messages.js';
import type {
  Application,
  ClientTool,
  Confirmation,
  ConfirmationRequest,
  Question,
  Turn,
} from '../apps/application.js';
import { newCallId } from '../ids.js';
import { eventType } from '../publish-options.js';
import { checkLogged, ownOf } from '../schema/check-logged.js';
import { toJsonSchema } from '../schema/json-schema.js';
import { validate } from '../schema/validate.js';
import type { Run } from './run.js';
import type { RunContext } from './run-context.js';
import { callTool, confirmation, question } from './tool-call.js';
import { ToolCallError } from './tool-error.js';

/** What a turn does through its session rather than through its run. */
export interface TurnEffects {
  steered(): readonly Message[];
  publish(channel: string, payload: unknown, type: string): void;
  custom(name: string, payload: unknown): void;
  usage(counts: Usage): void;
  annotate(metadata: Readonly<Record<string, unknown>>): void;
}

/** The face of a run that its app sees. */
export function createTurn(
  context: RunContext & Pick<Turn, 'session'> & { readonly app: Pick<Application, 'data' | 'questions'> },
  run: Run,
  history: readonly Message[],
  effects: TurnEffects,
): Turn {
  const { message, metadata, clientTools, parameters } = run.request;
  return {
    runId: run.id,
    resumed: run.resumed,
    text: textOf(message),
    message,
    history,
    signal: context.signal,
    user: context.user,
    session: context.session,
    metadata,
    clientTools,
    parameters,
    callTool: (tool: string | ClientTool, input: unknown) => {
      const name = typeof tool === 'string' ? tool : tool.name;
      return handed(context, 'callTool', callTool(context, name, input)) as Promise<any>;
    },
    steered: effects.steered,
    ask: (asked) => handed(context, 'ask', ask(context, asked)) as Promise<any>,
    confirm: (request) => handed(context, 'confirm', confirm(context, request)),
    data: (name, value, options) => {
      checkLogged(context.app.data, name, value, (error) => context.report(error, `data block ${name}`));
      const id = options?.id ?? newCallId();
      context.emit('data', { id, name, value });
      return id;
    },
    annotate: effects.annotate,
    emit: effects.custom,
    publish: (channel, payload, options) => effects.publish(channel, payload, eventType(options)),
    usage: effects.usage,
  };
}

/** An app may let go of a promise it was given; a failure that nobody waits for is logged and harms nobody else. */
function handed<T>(context: RunContext, what: string, promise: Promise<T>): Promise<T> {
  promise.catch((error: unknown) => {
    if (!isGatewayError(error) && !(error instanceof ToolCallError))
      context.report(error, `turn.${what} failed`);
  });
  return promise;
}

async function ask(
  context: RunContext & { readonly app: Pick<Application, 'questions'> },
  asked: Question<StandardSchemaV1 | undefined>,
): Promise<unknown> {
  const { name, payload } = asked;
  const schema: StandardSchemaV1 | undefined = asked.schema ?? ownOf(context.app.questions, name);
  const pending = context.resumption?.takeQuestion(name, payload) ?? null;
  const callId = pending?.callId ?? newCallId();
  const document = schema ? toJsonSchema(schema, 'input').schema : null;
  const event = {
    callId,
    name,
    ...(payload !== undefined && { payload }),
    ...(document !== null && { schema: document }),
  };
  const answer = await question(context, event, {
    announced: pending !== null,
    ...(schema && { check: async (output) => validate(schema, output, 'output') }),
  });
  if (answer.approved === false) {
    const why = answer.reason ? `Declined: ${answer.reason}` : 'Declined';
    throw new ToolCallError({ callId, toolName: name, denied: true }, why);
  }
  return answer.output;
}

async function confirm(
  context: RunContext,
  { name, input, message, callId }: ConfirmationRequest,
): Promise<Confirmation> {
  const pending = context.resumption?.takeConfirmation(name, input) ?? null;
  const asked = {
    callId: pending?.callId ?? callId ?? newCallId(),
    name,
    input: input ?? null,
    ...(message !== undefined && { message }),
  };
  const answer = await confirmation(context, asked, {
    announced: pending !== null,
    check: (changed) => Promise.resolve(changed),
  });
  return {
    approved: answer.approved === true,
    ...(answer.reason !== undefined && { reason: answer.reason }),
    ...(answer.input !== undefined && { input: answer.input }),
  };
}
