import type { JSONValue, ToolResultPart } from 'ai';
import type { ContentBlock, ToolResultBlock } from '../../../shared/messages.js';

type ModelOutput = ToolResultPart['output'];
type ContentPart = Extract<ModelOutput, { type: 'content' }>['value'][number];

/** A tool's result in the model's form. */
export function toModelOutput({ output, isError }: Pick<ToolResultBlock, 'output' | 'isError'>): ModelOutput {
  const value = (output ?? null) as JSONValue;
  if (isError)
    return typeof value === 'string' ? { type: 'error-text', value } : { type: 'error-json', value };
  if (typeof value === 'string') return { type: 'text', value };
  const parts = contentParts(value);
  return parts ? { type: 'content', value: parts } : { type: 'json', value };
}

/** A tool's result from the model's form. */
export function fromModelOutput(output: ModelOutput): Pick<ToolResultBlock, 'output' | 'isError'> {
  switch (output.type) {
    case 'error-text':
    case 'error-json':
      return { output: output.value, isError: true };
    case 'execution-denied':
      return { output: output.reason ? `Denied: ${output.reason}` : 'Denied', isError: true };
    case 'content':
      return { output: { content: output.value.map(toBlock) }, isError: false };
    default:
      return { output: output.value, isError: false };
  }
}

/** The parts of a result with its own content (`toolResult`). Null for another result, and if a block has no such part. */
function contentParts(value: JSONValue): ContentPart[] | null {
  const content = (value as { readonly content?: readonly ContentBlock[] } | null)?.content;
  if (!Array.isArray(content) || content.length === 0) return null;
  const parts = content.map(toPart);
  return parts.every((part) => part !== null) ? parts : null;
}

function toPart(block: ContentBlock): ContentPart | null {
  switch (block?.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      if (block.data !== undefined) {
        return { type: 'image-data', data: block.data, mediaType: block.mediaType };
      }
      return block.url === undefined ? null : { type: 'image-url', url: block.url };
    case 'file':
    case 'audio': {
      const { data, url, mediaType, name } = block;
      if (data !== undefined) {
        return { type: 'file-data', data, mediaType, ...(name !== undefined && { filename: name }) };
      }
      return url === undefined ? null : { type: 'file-url', url, mediaType };
    }
    default:
      return null;
  }
}

function toBlock(part: ContentPart): ContentBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image-data':
      return { type: 'image', mediaType: part.mediaType, data: part.data };
    case 'image-url':
      return { type: 'image', mediaType: 'image/*', url: part.url };
    case 'media':
    case 'file-data': {
      const { data, mediaType } = part;
      const name = part.type === 'file-data' ? part.filename : undefined;
      return { type: mediaKind(mediaType), mediaType, data, ...(name !== undefined && { name }) };
    }
    case 'file-url': {
      const { url, mediaType = 'application/octet-stream' } = part;
      return { type: mediaKind(mediaType), mediaType, url };
    }
    default:
      return { type: 'text', text: JSON.stringify(part) };
  }
}

/** The kind of block for a media type. */
export function mediaKind(mediaType: string): 'image' | 'audio' | 'file' {
  if (mediaType.startsWith('image/')) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'file';
}
