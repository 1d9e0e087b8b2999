import type { AudioBlock, ContentBlock, FileBlock, ImageBlock } from './messages.js';

/** Whether a block's bytes are those of an uploaded file. */
export function namesFile(
  block: ContentBlock,
): block is (ImageBlock | FileBlock | AudioBlock) & { readonly fileId: string } {
  return 'fileId' in block && block.fileId !== undefined;
}
