import type { ContentBlock as AcpBlock, PromptCapabilities } from '@agentclientprotocol/sdk';
import type { ContentBlock } from '../../../shared/messages.js';

/** A message as a prompt, as far as the agent takes it: what it does not take is named. */
export function toPrompt(content: readonly ContentBlock[], able: PromptCapabilities = {}): AcpBlock[] {
  return content.map((block): AcpBlock => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: block.text };
      case 'image':
      case 'audio':
      case 'file': {
        const { mediaType: mimeType, name = mimeType, url, data } = block;
        if (block.type !== 'file' && able[block.type] && data !== undefined)
          return { type: block.type, mimeType, data };
        if (able.embeddedContext && data !== undefined)
          return {
            type: 'resource',
            resource: { uri: `attachment:${encodeURIComponent(name)}`, mimeType, blob: data },
          };
        return url === undefined
          ? { type: 'text', text: `[${name}: not shown]` }
          : { type: 'resource_link', uri: url, name };
      }
      case 'resource':
        return block.text === undefined
          ? { type: 'resource_link', uri: block.uri, name: block.uri }
          : { type: 'text', text: block.text };
      default:
        return { type: 'text', text: `[${block.type}]` };
    }
  });
}
