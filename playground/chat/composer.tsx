import type { ContentBlock, OnBusy, SendInput } from 'agent-session-gateway/client';
import type { SessionView } from 'agent-session-gateway/client/react';
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import { Recipe } from '../shell/recipe.js';
import { sendRecipe } from '../shell/recipes.js';
import { useUploads } from './uploads.js';

const ON_BUSY: Record<Exclude<OnBusy, 'reject'>, string> = {
  queue: 'Queue behind it',
  steer: 'Steer it',
  interrupt: 'Interrupt it',
};

/** Where messages are written. While an answer goes on, the person says what becomes of it. */
export function Composer({
  session,
  sessionId,
}: {
  readonly session: SessionView;
  readonly sessionId: string;
}) {
  const { send, abort, run, queue, status } = session;
  const [text, setText] = useState('');
  const [onBusy, setOnBusy] = useState<keyof typeof ON_BUSY>('queue');
  const uploads = useUploads();
  const [problem, setProblem] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const isBusy = run !== null || queue.length > 0;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const said = text.trim();
    if (uploads.isPending || (said === '' && uploads.blocks.length === 0)) return;
    setProblem('');
    void send(inputOf(said, uploads.blocks), isBusy ? { onBusy } : undefined);
    setText('');
    uploads.clear();
  };
  const stop = () => abort().catch((error: Error) => setProblem(error.message));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    form.current?.requestSubmit();
  };

  return (
    <form className="composer" ref={form} onSubmit={submit}>
      {isBusy && (
        <fieldset className="busy">
          <legend>While an answer goes on, a new message should</legend>
          {(Object.keys(ON_BUSY) as (keyof typeof ON_BUSY)[]).map((mode) => (
            <label key={mode}>
              <input type="radio" name="on-busy" checked={mode === onBusy} onChange={() => setOnBusy(mode)} />
              {ON_BUSY[mode]}
            </label>
          ))}
        </fieldset>
      )}
      {uploads.list}
      <label className="unseen" htmlFor={id}>
        Message
      </label>
      <textarea
        id={id}
        rows={2}
        value={text}
        placeholder="Write a message"
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="row">
        {uploads.button}
        <Recipe {...sendRecipe(sessionId, text.trim() || 'Hello', isBusy ? onBusy : undefined)} />
        <span className="space" />
        {(status === 'running' || status === 'waiting') && (
          <button type="button" className="danger" onClick={() => void stop()}>
            Stop
          </button>
        )}
        <button type="submit" className="primary" disabled={uploads.isPending}>
          Send
        </button>
      </div>
      {problem && (
        <p className="notice bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function inputOf(text: string, attached: readonly ContentBlock[]): SendInput {
  if (attached.length === 0) return text;
  return [...(text ? [{ type: 'text' as const, text }] : []), ...attached];
}
