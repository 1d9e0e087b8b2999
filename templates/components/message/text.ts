import type { ContentBlock } from 'agent-session-gateway/client';

/** The text of a message. */
export const textOf = ({ content }: { readonly content: readonly ContentBlock[] }): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
