import type { ContentBlock, OnBusy, SendInput } from 'agent-session-gateway/client';
import type { SessionView } from 'agent-session-gateway/client/react';
import { ArrowUp, ChevronDown, Square } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import { Code } from '../shell/code.js';
import { sendRecipe } from '../shell/recipes.js';
import { IconButton } from '../ui/icon-button.js';
import { Menu, MenuItem } from '../ui/menu.js';
import { useUploads } from './uploads.js';

/** Choices for a message that is sent during an answer: the menu's text, and the empty box's. */
const ON_BUSY: Record<Exclude<OnBusy, 'reject'>, readonly [choice: string, placeholder: string]> = {
  queue: ['Queue behind it', 'Write the next message'],
  steer: ['Steer it', 'Steer the answer'],
  interrupt: ['Interrupt it', 'Interrupt with a message'],
};

/** The box for writing messages. One button sends and stops. During an answer the person chooses how a message affects it. */
export function Composer({
  session,
  sessionId,
  onTyping,
}: {
  readonly session: SessionView;
  readonly sessionId: string;
  readonly onTyping: () => void;
}) {
  const { send, abort, run, queue, status } = session;
  const [text, setText] = useState('');
  const [onBusy, setOnBusy] = useState<keyof typeof ON_BUSY>('queue');
  const uploads = useUploads();
  const [problem, setProblem] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const isBusy = run !== null || queue.length > 0;
  const isEmpty = text.trim() === '' && uploads.isEmpty;
  const stops = isEmpty && (status === 'running' || status === 'waiting');

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
    <form className="composer" ref={form} onSubmit={submit} {...uploads.dropping}>
      <Code
        what="send"
        of={() => sendRecipe(sessionId, text.trim() || 'Hello', isBusy ? onBusy : undefined)}
      />
      <div className="box">
        {uploads.list}
        <label className="unseen" htmlFor={id}>
          Message
        </label>
        <textarea
          id={id}
          dir="auto"
          rows={1}
          value={text}
          placeholder={isBusy ? ON_BUSY[onBusy][1] : 'Write a message'}
          onChange={({ target }) => {
            setText(target.value);
            onTyping();
          }}
          onKeyDown={onKeyDown}
          onPaste={uploads.onPaste}
        />
        <div className="row">
          {uploads.button}
          <span className="space" />
          {isBusy && (
            <Menu
              label={`${ON_BUSY[onBusy][0]}, while an answer goes on`}
              className="quiet"
              text={
                <>
                  {ON_BUSY[onBusy][0]} <ChevronDown aria-hidden="true" />
                </>
              }
            >
              {(Object.keys(ON_BUSY) as (keyof typeof ON_BUSY)[]).map((mode) => (
                <MenuItem key={mode} checked={mode === onBusy} onChoose={() => setOnBusy(mode)}>
                  {ON_BUSY[mode][0]}
                </MenuItem>
              ))}
            </Menu>
          )}
          {stops ? (
            <IconButton label="Stop" icon={Square} className="primary stop" onClick={() => void stop()} />
          ) : (
            <IconButton
              label="Send"
              icon={ArrowUp}
              type="submit"
              className="primary"
              disabled={isEmpty || uploads.isPending}
            />
          )}
        </div>
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
