import type { ContentBlock as AcpBlock, PromptCapabilities } from '@agentclientprotocol/sdk';
import { cut } from '../../../shared/cut.js';
import { type ContentBlock, type Message, textOf } from '../../../shared/messages.js';

/** Characters of a message before, in what a new session of the agent is told. */
const MESSAGE = 4_000;
/** Messages of it. */
const MESSAGES = 50;

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

/** The conversation so far, for a session of the agent that does not know it. */
export function toldBefore(history: readonly Message[]): AcpBlock[] {
  const said = history
    .slice(-MESSAGES)
    .map((message) => ({ role: message.role, text: textOf(message) }))
    .filter(({ text }) => text !== '');
  if (said.length === 0) return [];
  const lines = said.map(({ role, text }) => `${role}: ${cut(text, MESSAGE)}`);
  return [{ type: 'text', text: `[The conversation so far]\n${lines.join('\n')}\n[It goes on]` }];
}
