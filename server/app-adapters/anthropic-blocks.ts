import type { Anthropic } from '@anthropic-ai/sdk';
import type { ContentBlock } from '../../shared/messages.js';
import { namesFile } from '../../shared/names-file.js';
import { mediaOf } from '../chat-format/media.js';

/** The blocks of Anthropic's API that users and results may have. */
export type ShownBlock = Extract<Anthropic.ContentBlockParam, { type: 'text' | 'image' | 'document' }>;

/** Whether the API takes a text. */
export const isSaid = (text: string): boolean => text.trim() !== '';

/** The content of a user, or of a result, in the API's blocks. */
export function shownOf(content: readonly ContentBlock[]): ShownBlock[] {
  return content.flatMap((block): ShownBlock[] => {
    if (block.type === 'text' || block.type === 'resource')
      return isSaid(block.text ?? '') ? [{ type: 'text', text: block.text! }] : [];
    if (block.type === 'image' || block.type === 'audio' || block.type === 'file') return [mediaBlock(block)];
    return [];
  });
}

/** Media of kinds that the API takes; a remark on others, and on uploaded files, which adapters have inlined before. */
function mediaBlock(block: Extract<ContentBlock, { type: 'image' | 'audio' | 'file' }>): ShownBlock {
  const { name, url } = block;
  const { mediaType, ...source } =
    url === undefined
      ? { mediaType: block.mediaType, data: block.data ?? '' }
      : mediaOf(url, block.mediaType);
  const remark = (why: string): ShownBlock => ({ type: 'text', text: `[${name ?? mediaType}: ${why}]` });
  const title = name !== undefined && { title: name };
  if (namesFile(block)) return remark('not available');
  if ('url' in source) {
    const from = { type: 'url' as const, url: source.url };
    if (block.type === 'image') return { type: 'image', source: from };
    return mediaType === 'application/pdf'
      ? { type: 'document', source: from, ...title }
      : remark(source.url);
  }
  const { data } = source;
  switch (mediaType) {
    case 'image/jpeg':
    case 'image/png':
    case 'image/gif':
    case 'image/webp':
      return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
    case 'application/pdf':
      return { type: 'document', source: { type: 'base64', media_type: mediaType, data }, ...title };
    default: {
      if (!/^text\/|^application\/json\b/.test(mediaType)) return remark('of a kind that is not shown');
      const text = Buffer.from(data, 'base64').toString();
      return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title };
    }
  }
}
