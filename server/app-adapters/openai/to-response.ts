import type { ChatMessage, ChatPart, ChatTool } from '../../chat-format/chat-types.js';

type JsonFields = Readonly<Record<string, unknown>>;

/** A request for completions as one for a response. */
export function toResponse({ messages, tools, stream_options: _, ...settings }: JsonFields): JsonFields {
  return {
    ...toSettings(settings),
    input: (messages as readonly ChatMessage[]).flatMap(toItems),
    ...(tools !== undefined && { tools: (tools as readonly ChatTool[]).map(toTool) }),
  };
}

const toTool = ({ function: { strict = false, ...tool } }: ChatTool): JsonFields => ({
  ...{ type: 'function', ...tool },
  strict,
});

function toItems(message: ChatMessage): JsonFields[] {
  const { role } = message;
  if (role === 'tool')
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output: textOf(message.content) }];
  if (role !== 'assistant') {
    const { content } = message;
    return [{ role, content: typeof content === 'string' ? content : content.map(toPart) }];
  }
  const text = textOf(message.content ?? message.refusal ?? '');
  const calls = (message.tool_calls ?? []).map(({ id, function: called }) => ({
    ...{ type: 'function_call', call_id: id },
    ...called,
  }));
  return [...(text === '' ? [] : [{ role, content: text }]), ...calls];
}

const textOf = (content: string | readonly ChatPart[]): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');

function toPart(part: ChatPart): JsonFields {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image_url':
      return { type: 'input_image', image_url: part.image_url.url, detail: part.image_url.detail ?? 'auto' };
    case 'file':
      return { type: 'input_file', ...part.file };
    default:
      return { ...part };
  }
}

/** The settings that have other names there. Those that it does not have are left out. */
function toSettings({
  max_tokens,
  max_completion_tokens = max_tokens,
  reasoning_effort: effort,
  verbosity,
  response_format: format,
  tool_choice: choice,
  ...others
}: JsonFields): JsonFields {
  const {
    stop: _,
    seed: __,
    presence_penalty: ___,
    frequency_penalty: ____,
    logit_bias: _____,
    ...kept
  } = others;
  const { json_schema, ...formatted } = (format ?? {}) as { readonly json_schema?: object };
  const text = {
    ...(format !== undefined && { format: { ...formatted, ...json_schema } }),
    ...(verbosity !== undefined && { verbosity }),
  };
  const { function: named } = (choice ?? {}) as { readonly function?: { readonly name: string } };
  return {
    ...kept,
    ...(max_completion_tokens !== undefined && { max_output_tokens: max_completion_tokens }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(Object.keys(text).length > 0 && { text }),
    ...(choice !== undefined && { tool_choice: named ? { type: 'function', name: named.name } : choice }),
  };
}
