import { type FormEvent, type KeyboardEvent, useId } from 'react';
import { useDraft } from './draft.js';
import { isForInputMethod, isSendKey } from './keys.js';

interface ComposerProps {
  /** The session's key. */
  readonly id: string;
  /** The id of who writes: with it a draft outlives a reload. */
  readonly user?: string | undefined;
  /** Whether an answer goes on: what is sent then waits for its turn. */
  readonly isBusy: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

/** Where messages are written. One button sends, and stops the answer while nothing is written. */
export function Composer({ id: sessionId, user, isBusy, onSend, onStop }: ComposerProps) {
  const [text, setText] = useDraft(sessionId, user);
  const id = useId();
  const stops = isBusy && text.trim() === '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (stops) return onStop();
    if (text.trim() === '') return;
    onSend(text);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Escape' && isBusy && !isForInputMethod(event)) return onStop();
    if (!isSendKey(event)) return;
    event.preventDefault();
    // Enter never stops an answer.
    if (text.trim() !== '') event.currentTarget.form?.requestSubmit();
  };
  return (
    <form className="chat-composer" onSubmit={submit}>
      <label className="chat-unseen" htmlFor={id}>
        Message
      </label>
      <textarea
        id={id}
        dir="auto"
        rows={1}
        placeholder="Write a message"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit">{stops ? 'Stop' : 'Send'}</button>
    </form>
  );
}
