import type { ContentBlock, Message, StopReason } from '../../shared/messages.js';

/** Reasons for truncated answers. An answer that called its sender's tools, or that a steering message ended, is complete. */
const WHY: Partial<Record<StopReason, string>> = {
  aborted: 'the run was stopped',
  superseded: 'a newer message took its place',
  timeout: 'the run took too long',
  error: 'the run failed',
  lost: 'the server was lost',
  taken_over: 'a person took over',
  moderated: 'it was not allowed to say more',
  max_tokens: 'it reached the limit of tokens',
};

/** The fields of messages that show which answers were truncated. */
export type StoppedMessage = Pick<Message, 'role' | 'content' | 'stopReason'>;

/**
 * Tells a model of truncated answers, at the beginning of the user's next message. Every provider accepts text there, and no model takes it
 * for its own. If no such message follows, a message is added.
 */
export function tellOfCuts<M extends StoppedMessage>(messages: readonly M[]): readonly M[] {
  const told: M[] = [];
  let cut: { readonly answer: M; readonly note: string } | null = null;
  for (const message of messages) {
    const { role, stopReason } = message;
    if (role === 'assistant') {
      const why = stopReason && WHY[stopReason];
      cut = why === undefined ? null : { answer: message, note: noteOf(message, why) };
    }
    const tells = cut !== null && role === 'user';
    told.push(tells ? { ...message, content: begin(cut!.note, message.content) } : message);
    if (tells) cut = null;
  }
  return cut ? [...told, ownMessage(cut.answer, cut.note)] : told;
}

function noteOf({ content }: StoppedMessage, why: string): string {
  const said = content.some(({ type }) => type !== 'reasoning' && type !== 'data');
  return said ? `[The answer above was cut off: ${why}]` : `[The message above got no answer: ${why}]`;
}

/** Puts a note into the first text if the content begins with one, because some providers accept text only as a string. */
function begin(note: string, content: readonly ContentBlock[]): ContentBlock[] {
  const [first, ...others] = content;
  if (first?.type === 'text') return [{ ...first, text: `${note}\n\n${first.text}` }, ...others];
  return [{ type: 'text', text: note }, ...content];
}

function ownMessage<M extends StoppedMessage>(answer: M, note: string): M {
  const { stopReason: _, ...others } = answer;
  const id = (answer as { readonly id?: string }).id;
  const content: ContentBlock[] = [{ type: 'text', text: note }];
  return {
    ...others,
    ...(id !== undefined && { id: `${id}/cut` }),
    role: 'user',
    content,
  } as StoppedMessage as M;
}
