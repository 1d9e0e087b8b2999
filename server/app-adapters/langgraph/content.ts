import type {
  AudioBlock,
  ContentBlock,
  FileBlock,
  ImageBlock,
  ReasoningBlock,
  TextBlock,
} from '../../../shared/messages.js';
import type { GraphContent, GraphMessage } from './graph.js';

type LangChainMedia = ImageBlock | FileBlock | AudioBlock;
type KeptBlock = TextBlock | ReasoningBlock | LangChainMedia;

/** A block in LangChain's form; null for blocks that models do not accept: `data`, and a resource without text. */
export function toGraphContent(block: ContentBlock): GraphContent | null {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'reasoning':
      return { type: 'reasoning', reasoning: block.text };
    case 'resource':
      return block.text === undefined ? null : { type: 'text', text: block.text };
    case 'image':
    case 'file':
    case 'audio':
      return toMedia(block);
    default:
      return null;
  }
}

// The form with `source_type`, which every chat model integration converts for its provider.
function toMedia({ type, mediaType, name, url, data }: LangChainMedia): GraphContent | null {
  const source =
    url !== undefined
      ? { source_type: 'url', url }
      : data !== undefined
        ? { source_type: 'base64', data }
        : null;
  if (!source) return null;
  const named = name === undefined ? {} : { metadata: type === 'file' ? { filename: name } : { name } };
  return { type, ...source, mime_type: mediaType, ...named };
}

/** The text, reasoning and media of a message, or of a piece of one. */
export function fromGraphContent(message: GraphMessage): KeptBlock[] {
  const { content, additional_kwargs: extra } = message;
  const reasoning = extra?.reasoning_content;
  const apart: KeptBlock[] =
    typeof reasoning === 'string' && reasoning !== '' ? [{ type: 'reasoning', text: reasoning }] : [];
  if (typeof content === 'string')
    return content === '' ? apart : [...apart, { type: 'text', text: content }];
  return [...apart, ...(content ?? []).flatMap(fromBlock)];
}

function fromBlock(block: GraphContent): KeptBlock[] {
  switch (block.type) {
    case 'text':
      return string(block.text) === undefined ? [] : [{ type: 'text', text: string(block.text)! }];
    case 'reasoning':
      return reasoningOf(block.reasoning ?? summaryOf(block.summary));
    case 'thinking':
      return reasoningOf(block.thinking);
    case 'image_url': {
      const { image_url: image } = block;
      const url = string(typeof image === 'object' && image !== null ? (image as any).url : image);
      return url === undefined ? [] : [fromImageUrl(url)];
    }
    case 'image':
    case 'file':
    case 'audio':
      return fromMedia(block.type, block);
    default:
      return [];
  }
}

function fromImageUrl(url: string): ImageBlock {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mediaType === undefined || data === undefined) return { type: 'image', mediaType: 'image/*', url };
  return { type: 'image', mediaType, data };
}

function reasoningOf(text: unknown): KeptBlock[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : [];
}

function summaryOf(summary: unknown): string | undefined {
  if (!Array.isArray(summary)) return undefined;
  return summary.map((part) => string(part?.text) ?? '').join('\n');
}

function fromMedia(type: LangChainMedia['type'], block: GraphContent): KeptBlock[] {
  const [url, data] = [string(block.url), string(block.data)];
  if (url === undefined && data === undefined) return [];
  const metadata = (block.metadata ?? {}) as Record<string, unknown>;
  const name = string(metadata.filename) ?? string(metadata.name);
  return [
    {
      type,
      mediaType: string(block.mime_type) ?? string(block.mimeType) ?? 'application/octet-stream',
      ...(name !== undefined && { name }),
      ...(url !== undefined ? { url } : { data: data! }),
    },
  ];
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
