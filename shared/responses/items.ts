import type { ContentBlock, Message } from '../messages.js';
import { urlOf } from '../said.js';
import { clientCallId, type IdentifiedRun, itemId } from './ids.js';
import type { ResponseItem } from './types.js';

/** Text of an answer, as a part of a message. */
export function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** A message of the app. */
export function messageItem(id: string, text: string, status = 'completed'): ResponseItem {
  return { id, type: 'message', role: 'assistant', status, content: [textPart(text)] };
}

/** A model's reasoning; empty without a text. */
export function reasoningItem(id: string, text?: string): ResponseItem {
  return { id, type: 'reasoning', summary: text === undefined ? [] : [{ type: 'summary_text', text }] };
}

/** The input or the output of a call, as text. */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value ?? null) ?? 'null');
}

/** Arguments of a call. */
export function argumentsOf(input: unknown): string {
  return JSON.stringify(input ?? {}) ?? '{}';
}

/** The items of a message that is not an answer. */
export function givenItems(message: Message, run: IdentifiedRun): ResponseItem[] {
  const { id, role, content } = message;
  const items: ResponseItem[] = [];
  const parts = content.flatMap((block) => inputPart(block, role === 'assistant'));
  if (parts.length > 0) {
    const said = role === 'tool' ? 'user' : role;
    items.push({ id: `msg_${id}`, type: 'message', role: said, status: 'completed', content: parts });
  }
  for (const block of content) {
    if (block.type === 'tool_use') {
      const { callId, name, input } = block;
      const base = { call_id: clientCallId(callId, run), name, arguments: argumentsOf(input) };
      items.push({ id: itemId('fc', run, callId), type: 'function_call', ...base, status: 'completed' });
    } else if (block.type === 'tool_result') items.push(outputItem(block.callId, block.output, run));
  }
  return items;
}

/** The text input of a tool. A model may have put it into the field `input`. */
export function textInput(input: unknown): string {
  const { input: field } = (input ?? {}) as { readonly input?: unknown };
  return typeof field === 'string' ? field : textOfValue(input);
}

/** The result of a caller's tool. @param takesText Whether the tool's input is text */
export function outputItem(
  callId: string,
  output: unknown,
  run: IdentifiedRun,
  takesText = false,
): ResponseItem {
  return {
    id: `${takesText ? 'ctco' : 'fco'}_${callId}`,
    type: takesText ? 'custom_tool_call_output' : 'function_call_output',
    call_id: clientCallId(callId, run),
    output: outputParts(output) ?? textOfValue(output),
    status: 'completed',
  };
}

/** The parts of a result that has content of its own; null for any other. */
function outputParts(output: unknown): object[] | null {
  const content = (output as { readonly content?: readonly ContentBlock[] } | null)?.content;
  if (!Array.isArray(content) || content.length === 0) return null;
  const parts = content.map((block) => (block ? inputPart(block, false) : []));
  return parts.every(({ length }) => length > 0) ? parts.flat() : null;
}

function inputPart(block: ContentBlock, isAnswer: boolean): object[] {
  switch (block.type) {
    case 'text':
      return [isAnswer ? textPart(block.text) : { type: 'input_text', text: block.text }];
    case 'image':
      return [{ type: 'input_image', image_url: urlOf(block), detail: 'auto' }];
    case 'file':
    case 'audio': {
      const named = block.name !== undefined && { filename: block.name };
      const where = block.url === undefined ? { file_data: urlOf(block) } : { file_url: block.url };
      return [{ type: 'input_file', ...named, ...where }];
    }
    default:
      return [];
  }
}
