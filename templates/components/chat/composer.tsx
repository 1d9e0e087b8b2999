import type { ContentBlock, SendInput, SendOptions } from 'agent-session-gateway/client';
import { type SessionView, useConnection } from 'agent-session-gateway/client/react';
import { ArrowUp, ChevronDown, Square } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, memo, useEffect, useId, useRef, useState } from 'react';
import { Beside } from '../ui/around.js';
import { IconButton } from '../ui/icon-button.js';
import { isForInputMethod, isSendKey } from '../ui/keys.js';
import { Menu, MenuItem } from '../ui/menu.js';
import { useDraft } from './draft.js';
import { useUploads } from './uploads.js';

/** Choices for a message that is sent during an answer: the menu's text, the empty box's, and what is sent with it. */
const WHILE_BUSY = {
  queue: ['Queue behind it', 'Write the next message', { onBusy: 'queue' }],
  steer: ['Steer it', 'Steer the answer', { onBusy: 'steer' }],
  interrupt: ['Interrupt it', 'Interrupt with a message', { onBusy: 'interrupt' }],
  beside: ['Ask beside it', 'Ask beside the answer', { lane: 'new' }],
} satisfies Record<string, readonly [choice: string, placeholder: string, options: SendOptions]>;

/** The box for writing messages. One button sends and stops. During an answer the person chooses how a message affects it. */
export const Composer = memo(function Composer({
  send,
  abort,
  isBusy,
  isBeside,
  status,
  sessionId,
  user,
  onTyping,
  onEditLast,
}: Pick<SessionView, 'send' | 'abort' | 'status'> & {
  /** Whether an answer goes on, or waits for its turn. */
  readonly isBusy: boolean;
  /** Whether runs go on beside the conversation. */
  readonly isBeside: boolean;
  readonly sessionId: string;
  /** The id of who writes: with it a draft outlives a reload. */
  readonly user: string | undefined;
  readonly onTyping: () => void;
  /** Changes the last message of this person. */
  readonly onEditLast: () => void;
}) {
  const [text, setText] = useDraft(sessionId, user);
  const [mode, setMode] = useState<keyof typeof WHILE_BUSY>('queue');
  const [choice, placeholder, options] = WHILE_BUSY[mode];
  const uploads = useUploads(JSON.stringify([user ?? '', sessionId]));
  const [problem, setProblem] = useState('');
  const health = useConnection();
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a touch screen the keyboard would hide what one has come to read.
    const isFree = document.activeElement === document.body;
    if (isFree && matchMedia('(pointer: fine)').matches) box.current?.focus({ preventScroll: true });
    const onKey = (event: globalThis.KeyboardEvent) => {
      const { key, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
      if (key !== '/' || defaultPrevented || ctrlKey || metaKey || altKey) return;
      if ((target as Element).closest('input, textarea, select, [contenteditable]')) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const isEmpty = text.trim() === '' && uploads.isEmpty;
  // Runs beside the conversation have buttons of their own.
  // Nothing is to be stopped of a message that waits for a connection.
  const stops =
    isEmpty &&
    (isBusy || (!isBeside && health !== 'offline')) &&
    (status === 'running' || status === 'waiting');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const said = text.trim();
    if (uploads.isPending || (said === '' && uploads.blocks.length === 0)) return;
    setProblem('');
    void send(inputOf(said, uploads.blocks), isBusy ? options : undefined);
    setText('');
    uploads.clear();
  };
  const stop = () => abort().catch((error: Error) => setProblem(error.message));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isBusy && !isForInputMethod(event)) return void stop();
    if (event.key === 'ArrowUp' && text === '' && !isForInputMethod(event)) return onEditLast();
    if (!isSendKey(event)) return;
    event.preventDefault();
    form.current?.requestSubmit();
  };

  return (
    <form className="composer" ref={form} onSubmit={submit} {...uploads.dropping}>
      <Beside
        does="send"
        sessionId={sessionId}
        text={text.trim() || 'Hello'}
        options={isBusy ? options : undefined}
      />
      <div className="box">
        {uploads.list}
        <label className="unseen" htmlFor={id}>
          Message
        </label>
        <textarea
          ref={box}
          id={id}
          aria-keyshortcuts="/"
          dir="auto"
          rows={1}
          value={text}
          placeholder={isBusy ? placeholder : 'Write a message'}
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
              label={`${choice}, while an answer goes on`}
              className="quiet"
              text={
                <>
                  {choice} <ChevronDown aria-hidden="true" />
                </>
              }
            >
              {(Object.keys(WHILE_BUSY) as (keyof typeof WHILE_BUSY)[]).map((each) => (
                <MenuItem key={each} checked={each === mode} onChoose={() => setMode(each)}>
                  {WHILE_BUSY[each][0]}
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
});

function inputOf(text: string, attached: readonly ContentBlock[]): SendInput {
  if (attached.length === 0) return text;
  return [...(text ? [{ type: 'text' as const, text }] : []), ...attached];
}
