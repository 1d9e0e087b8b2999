import type { ContentBlock, Message } from '../messages.js';
import { type Said, saidIn, urlOf } from '../said.js';
import type { UiChunk, UiMessage, UiPart } from './chunks.js';
import { metadataOf, type UiStreamOptions } from './options.js';
import { UiWriter } from './writer.js';

/** A message of a session as a `UIMessage` of the AI SDK. An answer equals the fold of its stream. */
export function toUiMessage(message: Message, options: UiStreamOptions = {}): UiMessage {
  const { id, role } = message;
  if (role !== 'assistant') {
    const parts = message.content.flatMap(givenPart);
    const metadata = message.metadata && { metadata: message.metadata };
    return { id, role: role === 'system' ? 'system' : 'user', ...metadata, parts };
  }
  const runId = message.runId ?? '';
  // Messages of version 6 hold the outcome of approvals too.
  const writer = new UiWriter(runId, options.version === 5 ? options : { ...options, version: 7 });
  const parts = new PartsFold();
  for (const said of saidIn(message, runId)) for (const chunk of chunksOf(writer, said)) parts.take(chunk);
  const metadata = answerMetadata(message, options);
  return { id, role, ...(metadata && { metadata }), parts: [...parts.parts] };
}

function chunksOf(writer: UiWriter, said: Said): readonly UiChunk[] {
  if ('event' in said) return writer.take(said.event, true);
  return 'block' in said ? writer.block(said.block) : writer.subagent(said.subagent);
}

/** An imported answer has no run, and keeps the metadata that it was given. */
function answerMetadata(message: Message, options: UiStreamOptions): object | undefined {
  const { runId, stopReason, usage, metadata } = message;
  if (runId === undefined) return metadata;
  const ended = stopReason !== undefined && { stopReason };
  return metadataOf({ runId, ...ended, ...(usage && { usage }), ...(metadata && { metadata }) }, options);
}

function givenPart(block: ContentBlock): UiPart[] {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return [{ type: block.type, text: block.text }];
    case 'image':
    case 'file':
    case 'audio': {
      const { mediaType, name } = block;
      return [{ type: 'file', mediaType, url: urlOf(block), ...(name !== undefined && { filename: name }) }];
    }
    case 'data':
      return [{ type: `data-${block.name}`, id: block.id, data: block.value }];
    case 'resource': {
      const { uri, text } = block;
      return [{ type: 'source-url', sourceId: uri, url: uri, ...(text !== undefined && { title: text }) }];
    }
    default:
      return [];
  }
}

/** Folds the chunks of one message into its parts, as the SDK's own interfaces do. */
export class PartsFold {
  readonly #parts: UiPart[] = [];
  readonly #open = new Map<string, number>();

  get parts(): readonly UiPart[] {
    return this.#parts;
  }

  take(chunk: UiChunk): void {
    switch (chunk.type) {
      case 'start-step':
        this.#parts.push({ type: 'step-start' });
        return;
      case 'text-start':
      case 'reasoning-start': {
        const type = chunk.type === 'text-start' ? 'text' : 'reasoning';
        this.#open.set(
          chunk.id,
          this.#parts.push({
            type,
            ...(type === 'reasoning' && { id: chunk.id }),
            text: '',
            state: 'streaming',
          }) - 1,
        );
        return;
      }
      case 'text-delta':
      case 'reasoning-delta':
        return this.#change(this.#open.get(chunk.id), (part) => ({ text: `${part.text}${chunk.delta}` }));
      case 'text-end':
      case 'reasoning-end':
        return this.#change(this.#open.get(chunk.id), () => ({ state: 'done' }));
      case 'file':
      case 'source-url': {
        this.#parts.push({ ...chunk });
        return;
      }
      case 'tool-input-start':
      case 'tool-input-available':
        return this.#call(chunk);
      case 'tool-output-available':
        return this.#called(chunk.toolCallId, { state: 'output-available', output: chunk.output });
      case 'tool-output-error':
        return this.#called(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
      case 'tool-output-denied':
        return this.#called(chunk.toolCallId, { state: 'output-denied' });
      case 'tool-approval-response': {
        const { approvalId: id, approved, reason } = chunk;
        const approval = { id, approved, ...(reason !== undefined && { reason }) };
        return this.#called(id, { state: 'approval-responded', approval });
      }
      case 'tool-approval-request': {
        const approval = { id: chunk.approvalId };
        return this.#called(chunk.toolCallId, { state: 'approval-requested', approval });
      }
      default:
        if ('data' in chunk) this.#datum(chunk);
    }
  }

  #datum({ type, id, data, transient }: Extract<UiChunk, { readonly data: unknown }>): void {
    if (transient) return;
    const at = this.#parts.findIndex((part) => part.type === type && part.id === id);
    if (at >= 0) this.#change(at, () => ({ data }));
    else this.#parts.push({ type, ...(id !== undefined && { id }), data });
  }

  #call(chunk: Extract<UiChunk, { readonly type: 'tool-input-start' | 'tool-input-available' }>): void {
    const { toolCallId, toolName, dynamic, providerExecuted } = chunk;
    const ran = providerExecuted !== undefined && { providerExecuted };
    const given =
      chunk.type === 'tool-input-start'
        ? { state: 'input-streaming' }
        : { state: 'input-available', input: chunk.input };
    if (this.#at(toolCallId) !== undefined) return this.#called(toolCallId, { ...given, ...ran });
    const named = dynamic ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
    this.#parts.push({ ...named, toolCallId, ...given, ...ran });
  }

  #called(toolCallId: string, change: Readonly<Record<string, unknown>>): void {
    this.#change(this.#at(toolCallId), () => change);
  }

  #at(toolCallId: string): number | undefined {
    const at = this.#parts.findIndex((part) => part.toolCallId === toolCallId);
    return at < 0 ? undefined : at;
  }

  #change(at: number | undefined, change: (part: UiPart) => Readonly<Record<string, unknown>>): void {
    const part = at === undefined ? undefined : this.#parts[at];
    if (part) this.#parts[at!] = { ...part, ...change(part) };
  }
}
