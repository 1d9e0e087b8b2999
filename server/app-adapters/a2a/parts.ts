import type { ContentBlock } from '../../../shared/messages.js';
import { namesFile } from '../../../shared/names-file.js';
import type { AppEvent } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import type { AgentPart } from './sdk.js';

type Content = NonNullable<AgentPart['content']>;

const partOf = (content: Content, mediaType = '', filename = ''): AgentPart => ({
  ...{ content, mediaType, filename, metadata: undefined },
});

export const textPart = (value: string): AgentPart => partOf({ $case: 'text', value });
export const dataPart = (value: unknown): AgentPart => partOf({ $case: 'data', value }, 'application/json');

/** A person's content for an agent. The adapter has inlined the files that it could read. */
export function toParts(content: readonly ContentBlock[]): AgentPart[] {
  return content.flatMap((block): AgentPart[] => {
    if (namesFile(block)) return [textPart(`[${block.name ?? block.mediaType}: not available]`)];
    switch (block.type) {
      case 'text':
        return [textPart(block.text)];
      case 'resource':
        return block.text === undefined ? [] : [textPart(block.text)];
      case 'data':
        return [dataPart(block.value)];
      case 'image':
      case 'audio':
      case 'file': {
        const { url, data = '', mediaType, name } = block;
        const bytes: Content =
          url === undefined
            ? { $case: 'raw', value: Buffer.from(data, 'base64') }
            : { $case: 'url', value: url };
        return [partOf(bytes, mediaType, name)];
      }
      default:
        return [];
    }
  });
}

/** The text of parts. */
export const textIn = (parts: readonly AgentPart[]): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

/** The values of parts. */
export const valuesIn = (parts: readonly AgentPart[]): unknown[] =>
  parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []));

/** A data block of an answer. */
export type PartBlock = Extract<AppEvent, { readonly type: 'data' }>;

/** Parts other than text, as data blocks. @param id Names the blocks, with their number, which begins at `from` */
export function blocksOf(
  parts: readonly AgentPart[],
  { id, name, from = 0 }: { readonly id: string; readonly name: string; readonly from?: number },
): PartBlock[] {
  const others = parts.filter(({ content }) => content !== undefined && content.$case !== 'text');
  return others.flatMap(({ content, mediaType, filename }, nth): PartBlock[] => {
    const at = from + nth;
    if (!content || content.$case === 'text') return [];
    const block = { type: 'data' as const, id: fittingId(`${id}:${at}`) };
    if (content.$case === 'data')
      return [{ ...block, name: fittingId(name || 'data'), value: content.value ?? null }];
    const bytes =
      content.$case === 'url'
        ? { url: content.value }
        : { data: Buffer.from(content.value).toString('base64') };
    const named = filename === '' ? {} : { name: filename };
    return [{ ...block, name: 'file', value: { mediaType, ...named, ...bytes } }];
  });
}
