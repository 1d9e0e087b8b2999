import type { UserMessageItem } from '@openai/agents';
import type { ContentBlock } from '../../../shared/messages.js';
import { namesFile } from '../../../shared/names-file.js';

type UserContent = Exclude<UserMessageItem['content'], string>;
type AgentUserPart = UserContent[number];
type AgentMedia = Extract<ContentBlock, { type: 'image' | 'file' | 'audio' }>;

/** Converts a person's content for an agent. */
export function toUserContent(content: readonly ContentBlock[]): UserContent {
  return content.flatMap((block): AgentUserPart[] => {
    // The adapter has inlined the files that it could read.
    if (namesFile(block))
      return [{ type: 'input_text', text: `[${block.name ?? block.mediaType}: not available]` }];
    switch (block.type) {
      case 'text':
        return [{ type: 'input_text', text: block.text }];
      case 'resource':
        return block.text === undefined ? [] : [{ type: 'input_text', text: block.text }];
      case 'image':
        return [{ type: 'input_image', image: urlOf(block) }];
      case 'file': {
        const { url, name } = block;
        const file = url === undefined ? urlOf(block) : { url };
        return [{ type: 'input_file', file, ...(name !== undefined && { filename: name }) }];
      }
      case 'audio':
        return block.data === undefined
          ? []
          : [
              {
                type: 'audio',
                audio: block.data,
                format: /mpeg|mp3/.test(block.mediaType) ? 'mp3' : 'wav',
              },
            ];
      default:
        return [];
    }
  });
}

function urlOf({ url, mediaType, data }: AgentMedia): string {
  return url ?? `data:${mediaType};base64,${data ?? ''}`;
}

/** Converts a person's content from an agent's items. Media given by URL or id alone have an unknown media type. */
export function fromUserContent(content: UserMessageItem['content']): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((part): ContentBlock[] => {
    switch (part.type) {
      case 'input_text':
        return [{ type: 'text', text: part.text }];
      case 'input_image':
        return typeof part.image === 'string' ? [{ type: 'image', ...sourceOf(part.image, 'image/*') }] : [];
      case 'input_file': {
        const { file, filename } = part;
        const url = typeof file === 'object' && 'url' in file ? file.url : file;
        if (typeof url !== 'string') return [];
        const named = filename !== undefined && { name: filename };
        return [{ type: 'file', ...sourceOf(url, 'application/octet-stream'), ...named }];
      }
      case 'audio': {
        const mediaType = part.format === 'mp3' ? 'audio/mpeg' : 'audio/wav';
        return typeof part.audio === 'string' ? [{ type: 'audio', mediaType, data: part.audio }] : [];
      }
      default:
        return [];
    }
  });
}

function sourceOf(url: string, unknown: string): { mediaType: string; url?: string; data?: string } {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? { mediaType: unknown, url } : { mediaType, data };
}
