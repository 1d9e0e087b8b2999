import type { ContentBlock, Message, StopReason } from '../../shared/messages.js';

/** Why an answer is not whole. One that called tools of its sender, or that a steered message ended, is. */
const WHY: Partial<Record<StopReason, string>> = {
  aborted: 'the run was stopped',
  superseded: 'a newer message took its place',
  timeout: 'the run took too long',
  error: 'the run failed',
  lost: 'the server was lost',
  taken_over: 'a person took over',
  max_tokens: 'it reached the limit of tokens',
};

/** What is read of messages to tell of answers that were cut off. */
export type Told = Pick<Message, 'role' | 'content' | 'stopReason'>;

/**
 * Tells a model of answers that were cut off: at the beginning of the user's next message. There every provider accepts it, and no model
 * takes it for something it says itself. Where no such message follows it is a message of its own.
 */
export function tellOfCuts<M extends Told>(messages: readonly M[]): readonly M[] {
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

function noteOf({ content }: Told, why: string): string {
  const said = content.some(({ type }) => type !== 'reasoning' && type !== 'data');
  return said ? `[The answer above was cut off: ${why}]` : `[The message above got no answer: ${why}]`;
}

/** Within the first text, if it begins with that: some providers take text as a string only. */
function begin(note: string, content: readonly ContentBlock[]): ContentBlock[] {
  const [first, ...others] = content;
  if (first?.type === 'text') return [{ ...first, text: `${note}\n\n${first.text}` }, ...others];
  return [{ type: 'text', text: note }, ...content];
}

function ownMessage<M extends Told>(answer: M, note: string): M {
  const { stopReason: _, ...others } = answer;
  const id = (answer as { readonly id?: string }).id;
  const content: ContentBlock[] = [{ type: 'text', text: note }];
  return { ...others, ...(id !== undefined && { id: `${id}/cut` }), role: 'user', content } as Told as M;
}
