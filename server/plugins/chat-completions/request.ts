import type { MessageInput } from '../../../shared/messages.js';
import type { ClientTool } from '../../apps/application.js';
import type { ChatMessage } from '../../chat-format/chat-types.js';
import { fromChatMessages, fromChatTools } from '../../chat-format/from-chat.js';
import { fieldError } from '../conversation/errors.js';
import { TEXT_INPUT } from '../openai/custom-tools.js';
import { readBody } from '../openai/problem.js';
import { chatRequestSchema } from './request-schema.js';

/** A checked completion request. */
export interface ChatRequest {
  readonly model: string;
  /** The conversation, with the results of one step of a tool loop in one message. */
  readonly messages: readonly MessageInput[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The tools that the app may call; empty with `tool_choice: 'none'`. */
  readonly clientTools: readonly ClientTool[];
  /** Names of those tools whose input is text. */
  readonly customTools: readonly string[];
  /** All other fields, by their names on the wire. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Fields that are not parameters of the model. */
const OWN_FIELDS = new Set(['model', 'messages', 'stream', 'stream_options', 'n', 'tools', 'usage']);

/** Reads the body of a completion request. @throws GatewayError `INVALID_REQUEST` naming the field */
export function readChatRequest(body: unknown): ChatRequest {
  const read = readBody(chatRequestSchema, body);
  const { model, messages, stream, stream_options, usage, n, tools, tool_choice, ...rest } = read;
  if ((n ?? 1) > 1) throw fieldError('n', 'only one choice is made', 'unsupported_value');
  const offered = (tools ?? []).flatMap(toClientTool);
  const chosen = chooseTools(offered, tool_choice);
  const parameters = Object.entries({ ...rest, tool_choice: chosen.choice }).filter(
    ([name, value]) => !OWN_FIELDS.has(name) && value !== null && value !== undefined,
  );
  return {
    model,
    messages: joinResults(fromChatMessages(messages as ChatMessage[])),
    stream: stream === true,
    includeUsage: stream_options?.include_usage === true || usage?.include === true,
    clientTools: chosen.tools,
    customTools: (tools ?? []).flatMap((tool) => (tool.type === 'custom' ? [tool.custom.name] : [])),
    parameters: Object.fromEntries(parameters),
  };
}

type Choice = ReturnType<typeof chatRequestSchema.parse>['tool_choice'];

/** The offered tools that an app may call, and the choice that it is told. */
function chooseTools(
  offered: readonly ClientTool[],
  choice: Choice,
): { readonly tools: readonly ClientTool[]; readonly choice: Choice } {
  if (choice === 'none') return { tools: [], choice };
  if (typeof choice !== 'object' || choice === null) return { tools: offered, choice };
  const isList = choice.type === 'allowed_tools';
  const names = (isList ? choice.allowed_tools.tools : [choice]).map(nameOf);
  const missing = names.find((name) => !offered.some((tool) => tool.name === name));
  if (missing !== undefined) {
    const message = `there is no tool ${JSON.stringify(missing)} in tools`;
    throw fieldError('tool_choice', message, 'invalid_value');
  }
  // Apps are offered a custom tool as a function.
  if (!isList) return { tools: offered, choice: { type: 'function', function: { name: names[0]! } } };
  // The remaining tools say it already, and few model servers know this form.
  return { tools: offered.filter(({ name }) => names.includes(name)), choice: choice.allowed_tools.mode };
}

type NamedTool = ChatRequestTool | Exclude<Choice, string | null | undefined | { type: 'allowed_tools' }>;

function nameOf(tool: NamedTool): string {
  return tool.type === 'function' ? tool.function.name : tool.custom.name;
}

type ChatRequestTool = NonNullable<ReturnType<typeof chatRequestSchema.parse>['tools']>[number];

function toClientTool(tool: ChatRequestTool): ClientTool[] {
  const { name, description } = tool.type === 'function' ? tool.function : tool.custom;
  const described = description != null && { description };
  if (tool.type === 'custom') return [{ name, ...described, parameters: TEXT_INPUT }];
  const { parameters, strict } = tool.function;
  const given = { ...(parameters != null && { parameters }), ...(strict != null && { strict }) };
  return fromChatTools([{ type: 'function', function: { name, ...described, ...given } }]);
}

/** Joins the results of parallel calls into one message, so that the app has them all in `turn.message`. */
function joinResults(messages: readonly MessageInput[]): MessageInput[] {
  const joined: MessageInput[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'tool' && last?.role === 'tool')
      joined[joined.length - 1] = { ...last, content: [...last.content, ...message.content] as never };
    else joined.push(message);
  }
  return joined;
}
