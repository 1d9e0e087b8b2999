import type { PendingQuestion } from 'agent-session-gateway/client';
import { type FormEvent, useState } from 'react';

interface QuestionProps {
  readonly question: PendingQuestion;
  readonly onAnswer: (response: { approved: boolean } | { output: unknown }) => void;
}

/** What waits for a person: consent to a tool, or a question. It is there after a reload, and in every tab. */
export function Question({ question, onAnswer }: QuestionProps) {
  const { kind, name } = question;
  const isConsent = kind === 'confirmation';
  const label = question.message ?? (isConsent ? `Allow ${name}?` : name);
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAnswer({ output: text });
  };
  return (
    <fieldset className="chat-question" aria-label={label}>
      <p>{label}</p>
      {question.input !== undefined && <pre>{JSON.stringify(question.input, null, 2)}</pre>}
      {isConsent ? (
        <>
          <button type="button" onClick={() => onAnswer({ approved: true })}>
            Approve
          </button>
          <button type="button" onClick={() => onAnswer({ approved: false })}>
            Deny
          </button>
        </>
      ) : (
        <form onSubmit={submit}>
          <input aria-label="Answer" value={text} onChange={({ target }) => setText(target.value)} />
          <button type="submit">Answer</button>
        </form>
      )}
    </fieldset>
  );
}
