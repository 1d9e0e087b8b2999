import { ECHOED, type ResponseEcho, type ResponseTool } from '../../../shared/responses/types.js';
import type { ClientTool } from '../../apps/application.js';
import { fieldError } from '../conversation/errors.js';
import { TEXT_INPUT } from '../openai/custom-tools.js';
import { readBody } from '../openai/problem.js';
import { type InputItem, type RequestBody, requestSchema } from './request-schema.js';

/** A checked request. */
export interface ResponseRequest {
  readonly model: string | undefined;
  readonly items: readonly InputItem[];
  readonly previousResponse: string | undefined;
  readonly conversation: string | undefined;
  readonly background: boolean;
  readonly store: boolean;
  readonly stream: boolean;
  /** Tools that the app may call; empty with `tool_choice: 'none'`. */
  readonly clientTools: readonly ClientTool[];
  /** Fields for the app, by their names on the wire, and also by their names in chat completions if those differ. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The caller's own notes. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Fields that the response repeats. */
  readonly echo: ResponseEcho;
}

/** Fields that are not the app's concern. */
const OWN_FIELDS = new Set([
  ...['model', 'input', 'previous_response_id', 'conversation', 'background', 'store', 'stream'],
  ...['stream_options', 'tools', 'include', 'metadata'],
]);

/** Reads the body of a request. @throws GatewayError `INVALID_REQUEST` naming the field */
export function readResponseRequest(given: unknown): ResponseRequest {
  const body = readBody(requestSchema, given);
  const { input, conversation, previous_response_id: previous, background, store } = body;
  if (background && store === false)
    throw fieldError(
      'background',
      'needs store: true, because a response in the background is stored',
      'invalid_value',
    );
  if (conversation != null && previous != null)
    throw fieldError('previous_response_id', 'cannot be used with conversation', 'invalid_value');
  const items = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : (input ?? []);
  const conversationId = typeof conversation === 'string' ? conversation : conversation?.id;
  const { offered, chosen, choice } = toolsOf(body);
  return {
    model: body.model ?? undefined,
    items,
    previousResponse: previous ?? undefined,
    conversation: conversationId,
    background: background === true,
    store: store !== false,
    stream: body.stream === true,
    clientTools: chosen.map(toClientTool),
    parameters: parametersOf(body, choice),
    metadata: body.metadata ?? {},
    echo: echoOf(body, offered, conversationId),
  };
}

function toolsOf({ tools, tool_choice: choice }: RequestBody): {
  readonly offered: readonly ResponseTool[];
  readonly chosen: readonly ResponseTool[];
  readonly choice: unknown;
} {
  const offered = (tools ?? []).flatMap((tool): ResponseTool[] => {
    if (!('name' in tool) || (tool.type !== 'function' && tool.type !== 'custom')) return [];
    const { name, description = null, ...rest } = tool as Extract<typeof tool, { name: string }>;
    if (rest.type === 'custom')
      return [{ type: 'custom', name, description, format: rest.format ?? { type: 'text' } }];
    const { parameters = null, strict = null } = rest;
    return [{ type: 'function', name, description, parameters, strict }];
  });
  if (choice === 'none') return { offered, chosen: [], choice };
  if (typeof choice !== 'object' || choice === null) return { offered, chosen: offered, choice };
  const isList = choice.type === 'allowed_tools';
  const names = (isList ? (choice.tools as readonly ChosenTool[]) : [choice]).flatMap(broughtName);
  // The vendor's tool is not here, so the app chooses freely.
  if (!isList && names.length === 0) return { offered, chosen: offered, choice: 'auto' };
  const missing = names.find((name) => !offered.some((tool) => tool.name === name));
  if (missing !== undefined) {
    const message = `there is no tool ${JSON.stringify(missing)} in tools`;
    throw fieldError('tool_choice', message, 'invalid_value');
  }
  // Apps know the form of chat completions.
  if (!isList)
    return { offered, chosen: offered, choice: { type: 'function', function: { name: names[0] } } };
  const chosen = offered.filter(({ name }) => names.includes(name));
  return { offered, chosen, choice: chosen.length === 0 ? 'auto' : (choice.mode ?? 'auto') };
}

interface ChosenTool {
  readonly type: string;
  readonly name?: unknown;
}

/** The name of a tool that the caller brings; none for one of the vendor's, which is not served. */
function broughtName({ type, name }: ChosenTool): string[] {
  return type === 'function' || type === 'custom' ? [String(name)] : [];
}

function toClientTool(tool: ResponseTool): ClientTool {
  const { name, description } = tool;
  const described = description !== null && { description };
  if (tool.type === 'custom') return { name, ...described, parameters: TEXT_INPUT };
  const { parameters, strict } = tool;
  return {
    name,
    ...described,
    ...(parameters !== null && { parameters }),
    ...(strict !== null && { strict }),
  };
}

function parametersOf(body: RequestBody, choice: unknown): Readonly<Record<string, unknown>> {
  const { max_output_tokens: bound, reasoning, text, ...rest } = body;
  const format = text?.format;
  const parameters = {
    ...rest,
    tool_choice: choice,
    max_output_tokens: bound,
    max_completion_tokens: bound,
    reasoning,
    reasoning_effort: reasoning?.effort,
    text,
    response_format: format?.type === 'json_schema' ? toChatFormat(format) : format,
  };
  return Object.fromEntries(
    Object.entries(parameters).filter(([name, value]) => !OWN_FIELDS.has(name) && value != null),
  );
}

function toChatFormat({ type, ...schema }: Readonly<Record<string, unknown>>): object {
  return { type, json_schema: schema };
}

function echoOf(
  body: RequestBody,
  tools: readonly ResponseTool[],
  conversation: string | undefined,
): ResponseEcho {
  const { model, service_tier: tier, ...rest } = body;
  const given = Object.entries(rest).filter(([name, value]) => ECHOED.includes(name) && value != null);
  return {
    ...(model != null && { model }),
    ...Object.fromEntries(given),
    ...(tier != null && tier !== 'auto' && { service_tier: tier }),
    ...(body.reasoning && { reasoning: { effort: null, summary: null, ...body.reasoning } }),
    ...(body.text && { text: { ...body.text, format: body.text.format ?? { type: 'text' } } }),
    tools,
    ...(conversation !== undefined && { conversation: { id: conversation } }),
  };
}
