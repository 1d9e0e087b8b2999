import type { ContentBlock } from '../../../shared/messages.js';
import { urlOf } from '../../../shared/said.js';

/** A part of a message or an artifact: `text`, `raw` bytes, a `url` or `data`. */
export type A2aPart = Readonly<Record<string, unknown>>;

/** A part of what a task makes. */
export interface A2aArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly parts: readonly A2aPart[];
}

/** A task: a run of a session. */
export interface A2aTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly timestamp: string; readonly message?: object };
  readonly artifacts?: readonly A2aArtifact[] | undefined;
  readonly history?: readonly object[] | undefined;
}

/** An event of a stream: `task`, `statusUpdate` or `artifactUpdate`. */
export type A2aEvent = Readonly<Record<string, object>>;

/** The blocks of a message as parts. */
export function toParts(content: readonly ContentBlock[]): A2aPart[] {
  return content.flatMap((block): A2aPart[] => {
    if (block.type === 'text') return [{ text: block.text }];
    if (block.type === 'resource') return [{ url: block.uri }];
    if (block.type !== 'image' && block.type !== 'file' && block.type !== 'audio') return [];
    const { mediaType, name: filename, data: raw } = block;
    const media = { mediaType, ...(filename !== undefined && { filename }) };
    return [{ ...(raw === undefined ? { url: urlOf(block) } : { raw }), ...media }];
  });
}
