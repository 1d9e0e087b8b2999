import type { ContentBlock, MessageInput } from '../../../shared/messages.js';
import { parseClientCallId, parseItemId } from '../../../shared/responses/ids.js';
import { readArguments } from '../../chat-format/from-chat.js';
import { mediaOf } from '../../chat-format/media.js';
import { fieldError } from '../conversation/errors.js';
import type { InputItem, InputPart } from './request-schema.js';
import { vendorContent } from './vendor-items.js';

type InputItemOf<Type extends InputItem['type']> = Extract<InputItem, { readonly type: Type }>;

/** Finds the content of an item that a request only names; null if it adds nothing to a conversation. */
export type Resolve = (id: string, path: string) => Promise<readonly ContentBlock[] | null>;

/** Converts items to messages. Consecutive texts and calls of the app make one message, and so do results. @throws GatewayError naming an item */
export async function toMessages(items: readonly InputItem[], resolve: Resolve): Promise<MessageInput[]> {
  const messages: { role: NonNullable<MessageInput['role']>; content: ContentBlock[] }[] = [];
  const names = new Map<string, string>();
  const add = (role: 'assistant' | 'tool' | 'system', content: readonly ContentBlock[]): void => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content: [...content] });
  };
  for (const [at, item] of items.entries()) {
    const path = `input[${at}]`;
    switch (item.type) {
      case 'function_call': {
        const { callId } = parseClientCallId(item.call_id);
        names.set(callId, item.name);
        add('assistant', [
          { type: 'tool_use', callId, name: item.name, input: readArguments(item.arguments) },
        ]);
        break;
      }
      case 'custom_tool_call': {
        const { callId } = parseClientCallId(item.call_id);
        const { name, input } = item;
        names.set(callId, name);
        add('assistant', [{ type: 'tool_use', callId, name, input }]);
        break;
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const { callId } = parseClientCallId(item.call_id);
        const name = names.get(callId) ?? 'unknown';
        const output = outputOf(item);
        add('tool', [{ type: 'tool_result', callId, name, output, isError: false }]);
        break;
      }
      case 'mcp_call':
        add('assistant', ownCall(item, `${at}`));
        break;
      case null:
      case 'item_reference': {
        const found = await resolve(item.id, `${path}.id`);
        if (found) add('assistant', found);
        break;
      }
      case 'mcp_approval_request':
      case 'mcp_approval_response':
      case 'reasoning':
        break;
      case undefined:
      case 'message': {
        const { role, content } = item;
        const blocks = blocksOf(content, `${path}.content`);
        if (role === 'assistant') add('assistant', blocks);
        else messages.push({ role: role === 'user' ? 'user' : 'system', content: blocks });
        break;
      }
      default: {
        const said = vendorContent(item);
        if (said) add(said.role, said.content);
      }
    }
  }
  return messages;
}

/** The output of a function: text, or content in the form of the app's own tools. */
export function outputOf({ output }: Pick<InputItemOf<'function_call_output'>, 'output'>): unknown {
  if (typeof output === 'string') return output;
  const content = blocksOf(output, 'output');
  return content.every((block) => block.type === 'text')
    ? content.map(({ text }) => text).join('')
    : { content };
}

/** A call of the app's own tools in an earlier answer, with its result. */
function ownCall(
  { id, name, arguments: text, output, error }: InputItemOf<'mcp_call'>,
  at: string,
): ContentBlock[] {
  if (output == null && error == null) return [];
  const callId = id == null ? `call-${at}` : (parseItemId(id)?.part ?? id);
  const result = output ?? (typeof error === 'string' ? error : JSON.stringify(error));
  return [
    { type: 'tool_use', callId, name, input: readArguments(text) },
    { type: 'tool_result', callId, name, output: result, isError: output == null },
  ];
}

function blocksOf(content: string | readonly InputPart[], path: string): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.map((part, at) => blockOf(part, `${path}[${at}]`));
}

function blockOf(part: InputPart, path: string): ContentBlock {
  switch (part.type) {
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_image': {
      if (part.file_id != null) return { type: 'image', mediaType: 'image/*', fileId: part.file_id };
      if (part.image_url == null) throw fieldError(path, 'needs image_url or file_id', 'invalid_value');
      return { type: 'image', ...mediaOf(part.image_url, 'image/*') };
    }
    case 'input_file': {
      const name = part.filename != null && { name: part.filename };
      const unknown = 'application/octet-stream';
      if (part.file_id != null) return { type: 'file', mediaType: unknown, fileId: part.file_id, ...name };
      if (part.file_url != null) return { type: 'file', mediaType: unknown, url: part.file_url, ...name };
      if (part.file_data == null)
        throw fieldError(path, 'needs file_data, file_url or file_id', 'invalid_value');
      const inline = mediaOf(part.file_data, unknown);
      // A text that is no data URL is the base64 data alone.
      if ('data' in inline) return { type: 'file', ...inline, ...name };
      return { type: 'file', mediaType: unknown, data: part.file_data, ...name };
    }
    default:
      return { type: 'text', text: part.text };
  }
}
