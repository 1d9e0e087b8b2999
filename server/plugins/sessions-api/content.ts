import type { ContentBlock } from '../../../shared/messages.js';

/** Blocks of a message, as the API has them. */
export function contentOf(content: readonly ContentBlock[]): object[] {
  return content.flatMap((block): object[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    if (block.type !== 'image' && block.type !== 'file' && block.type !== 'audio') return [];
    const { mediaType, name, url, data } = block;
    const type = block.type === 'image' ? 'image' : 'document';
    const source =
      data === undefined ? { type: 'url', url: url ?? '' } : { type: 'base64', media_type: mediaType, data };
    return [{ type, source, ...(name !== undefined && { title: name }) }];
  });
}

/** The output of a tool, or a person's answer, as content. */
export function outputOf(output: unknown): object[] {
  return [{ type: 'text', text: typeof output === 'string' ? output : (JSON.stringify(output) ?? '') }];
}
