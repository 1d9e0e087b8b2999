import type { ContentBlock } from '../../../shared/messages.js';
import type { ToolOutput } from '../../apps/tool.js';
import { isPlainObject } from '../../schema/schema.js';
import { fileUri } from './file-resources.js';
import type { CallToolResult, McpContent } from './sdk.js';

type McpMedia = Extract<ContentBlock, { type: 'image' | 'audio' | 'file' }>;

/**
 * Writes a tool's output in the form of MCP. `structuredContent` takes only objects; a text copy is for clients that read only text. Throws
 * the error of `JSON.stringify` if structured content is no JSON.
 */
export function toCallToolResult({ content, structured, isError }: ToolOutput): CallToolResult {
  const blocks = content.map(toMcpContent);
  const failed = isError && { isError };
  if (structured === undefined) return { content: blocks, ...failed };
  const text = jsonText(structured);
  if (!blocks.some(({ type }) => type === 'text')) blocks.push({ type: 'text', text });
  const value: unknown = isPlainObject(structured) ? structured : JSON.parse(text);
  return { content: blocks, ...(isPlainObject(value) && { structuredContent: value }), ...failed };
}

function toMcpContent(block: ContentBlock): McpContent {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return inline(block) ?? link(block);
    case 'file':
      return file(block);
    case 'resource': {
      const { uri, mediaType, text, data } = block;
      const base = { uri, ...(mediaType !== undefined && { mimeType: mediaType }) };
      if (text !== undefined) return { type: 'resource', resource: { ...base, text } };
      if (data !== undefined) return { type: 'resource', resource: { ...base, blob: data } };
      return { type: 'resource_link', name: uri, ...base };
    }
    case 'data':
      return { type: 'text', text: jsonText(block.value) };
    default:
      return { type: 'text', text: jsonText(block) };
  }
}

const DATA_URL = /^data:([^;,]+)[^,]*;base64,/;

/** The bytes of a block, from `data` or a `data:` URL, if it has any. */
function bytesOf({
  mediaType,
  url,
  data,
}: McpMedia): { readonly mimeType: string; readonly data: string } | null {
  if (data !== undefined) return { mimeType: mediaType, data };
  const found = url === undefined ? null : DATA_URL.exec(url);
  return found ? { mimeType: found[1]!, data: url!.slice(found[0].length) } : null;
}

function inline(block: Extract<ContentBlock, { type: 'image' | 'audio' }>): McpContent | null {
  const bytes = bytesOf(block);
  return bytes && { type: block.type, ...bytes };
}

/** An uploaded file becomes a resource link. */
function link({ url, fileId, name, mediaType }: McpMedia): McpContent {
  const uri = url ?? fileUri(fileId ?? '');
  return { type: 'resource_link', uri, name: name ?? uri, mimeType: mediaType };
}

/** An inline file has no address, but MCP demands one. */
function file(block: Extract<ContentBlock, { type: 'file' }>): McpContent {
  const bytes = bytesOf(block);
  if (!bytes) return link(block);
  const uri = `attachment:///${encodeURIComponent((block.name ?? 'file').replaceAll(/\p{Surrogate}/gu, '\uFFFD'))}`;
  return { type: 'resource', resource: { uri, mimeType: bytes.mimeType, blob: bytes.data } };
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}
