import type { ContentBlock, Message } from '../messages.js';
import { textOf } from '../messages.js';
import { saidIn, urlOf } from '../said.js';
import type { AgUiEvent, AgUiMessage, AgUiPart, AgUiToolCall } from './events.js';
import { AgUiWriter } from './writer.js';

/** A message of a session in AG-UI's form. An answer equals the fold of its events. */
export function toAgUiMessages(message: Message): AgUiMessage[] {
  const { id, role, content } = message;
  switch (role) {
    case 'user':
      return [{ id, role, content: partsOf(content) }];
    case 'system':
      return [{ id, role, content: textOf(message) }];
    case 'tool':
      return content.flatMap((block, at): AgUiMessage[] =>
        block.type === 'tool_result'
          ? [
              {
                id: at === 0 ? id : `${id}:${at}`,
                role,
                toolCallId: block.callId,
                content: said(block.output),
              },
            ]
          : [],
      );
    default: {
      const writer = new AgUiWriter({ threadId: '', runId: '', version: '1.0' }, { tellsAnswers: true });
      const fold = new MessagesFold();
      for (const said of saidIn(message, message.runId ?? ''))
        if ('event' in said) for (const event of writer.take(said.event, true)) fold.take(event);
      return [...fold.messages];
    }
  }
}

function said(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
}

function partsOf(content: readonly ContentBlock[]): string | AgUiPart[] {
  const [only] = content;
  if (content.length === 0) return '';
  if (content.length === 1 && only?.type === 'text') return only.text;
  return content.flatMap(partOf);
}

function partOf(block: ContentBlock): AgUiPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
    case 'audio':
    case 'file': {
      const { mediaType, data } = block;
      const [kind] = mediaType.split('/');
      const type = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
      if (data !== undefined) return [{ type, source: { type: 'data', value: data, mimeType: mediaType } }];
      return [{ type, source: { type: 'url', value: urlOf(block), mimeType: mediaType } }];
    }
    default:
      return [];
  }
}

/** Folds events into messages, as the clients of the protocol do. */
export class MessagesFold {
  readonly #messages: AgUiMessage[] = [];

  get messages(): readonly AgUiMessage[] {
    return this.#messages;
  }

  take(event: AgUiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        this.#messages.push({ id: event.messageId, role: 'assistant', content: '' });
        return;
      case 'REASONING_MESSAGE_START':
        this.#messages.push({ id: event.messageId, role: 'reasoning', content: '' });
        return;
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        return this.#change(event.messageId, ({ content = '', ...message }) => ({
          ...message,
          content: `${content}${event.delta}`,
        }));
      case 'TOOL_CALL_START': {
        const { toolCallId: id, toolCallName: name, parentMessageId } = event;
        const call: AgUiToolCall = { id, type: 'function', function: { name, arguments: '' } };
        if (!this.#messages.some((message) => message.id === parentMessageId))
          this.#messages.push({ id: parentMessageId, role: 'assistant' });
        return this.#change(parentMessageId, ({ toolCalls = [], ...message }) => ({
          ...message,
          toolCalls: [...toolCalls, call],
        }));
      }
      case 'TOOL_CALL_ARGS': {
        const { toolCallId, delta } = event;
        const owner = this.#messages.find((message) => owns(message, toolCallId));
        return this.#change(owner?.id ?? '', ({ toolCalls = [], ...message }) => ({
          ...message,
          toolCalls: toolCalls.map((call: AgUiToolCall) =>
            call.id === toolCallId
              ? { ...call, function: { ...call.function, arguments: call.function.arguments + delta } }
              : call,
          ),
        }));
      }
      case 'TOOL_CALL_RESULT': {
        const { messageId: id, toolCallId, content, role } = event;
        let at = this.#messages.findIndex((message) => owns(message, toolCallId)) + 1;
        if (at === 0) at = this.#messages.length;
        while (this.#messages[at]?.role === 'tool') at += 1;
        this.#messages.splice(at, 0, { id, role, toolCallId, content });
      }
    }
  }

  #change(id: string, change: (message: any) => AgUiMessage): void {
    const at = this.#messages.findIndex((message) => message.id === id);
    if (at >= 0) this.#messages[at] = change(this.#messages[at]);
  }
}

function owns(message: AgUiMessage, toolCallId: string): boolean {
  return message.role === 'assistant' && !!message.toolCalls?.some(({ id }) => id === toolCallId);
}
