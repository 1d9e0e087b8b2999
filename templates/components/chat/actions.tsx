import type { Message } from 'agent-session-gateway/client';
import type { SessionReactions } from 'agent-session-gateway/client/people';
import type { SessionView } from 'agent-session-gateway/client/react';
import {
  ChartNoAxesGantt,
  ChevronLeft,
  ChevronRight,
  GitFork,
  Pencil,
  RefreshCw,
  ThumbsDown,
  ThumbsUp,
} from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { textOf } from '../message/text.js';
import { Beside } from '../ui/around.js';
import { CopyButton } from '../ui/copy-button.js';
import { IconButton } from '../ui/icon-button.js';
import { isForInputMethod } from '../ui/keys.js';

/** Operations that change the conversation. The object stays the same while the session is shown. */
export interface Changes
  extends Pick<SessionView, 'edit' | 'regenerate' | 'move' | 'fork'>,
    SessionReactions {
  readonly sessionId: string;
  /** Id of the user of the page, whose thumbs are shown as pressed. */
  readonly user: string | undefined;
  /** Shows another session, such as a fork. */
  readonly onOpen: ((sessionId: string) => void) | undefined;
  /** Begins to change a message, or leaves it. */
  readonly onEdit: (messageId: string | undefined) => void;
}

/** The actions on a message of the conversation, and its other versions. */
export function MessageActions({
  message,
  changes,
  shown,
  edits,
  onRun,
}: {
  readonly message: Message;
  readonly changes: Changes;
  /** Whether the pointer or the focus is at this message. Its versions are always shown. */
  readonly shown: boolean;
  /** Whether somebody is changing it. */
  readonly edits: boolean;
  /** Shows the run of an answer. */
  readonly onRun: ((message: Message) => void) | undefined;
}) {
  const { id, role } = message;
  const { sessionId, regenerate, move, onEdit } = changes;
  const [problem, setProblem] = useState('');
  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.catch((error: Error) => setProblem(error.message));
  };
  const fork = async () => {
    const to = `${sessionId.slice(0, 100)}-${Date.now().toString(36)}`;
    const made = await changes.fork(to, { at: id });
    changes.onOpen?.(made.sessionId);
  };
  if (edits) return <Edit message={message} edit={changes.edit} onDone={() => onEdit(undefined)} />;
  return (
    <>
      <Versions message={message} onMove={(version) => attempt(move({ version }))} />
      {shown && (
        <div className="actions" role="toolbar" aria-label="Actions">
          <CopyButton label="Copy" text={() => textOf(message)} />
          {role === 'user' && <IconButton label="Edit" icon={Pencil} onClick={() => onEdit(id)} />}
          {role === 'assistant' && <Thumbs message={message} changes={changes} attempt={attempt} />}
          {role === 'assistant' && (
            <IconButton label="Answer again" icon={RefreshCw} onClick={() => void regenerate(id)} />
          )}
          {changes.onOpen && <IconButton label="Fork" icon={GitFork} onClick={() => attempt(fork())} />}
          {onRun && role === 'assistant' && (
            <IconButton label="Show its run" icon={ChartNoAxesGantt} onClick={() => onRun(message)} />
          )}
        </div>
      )}
      {problem && (
        <span className="bad" role="alert">
          {problem}
        </span>
      )}
      {shown && role === 'user' && (
        <Beside does="edit" sessionId={sessionId} messageId={id} text={textOf(message)} />
      )}
      {shown && role === 'assistant' && <Beside does="answer again" sessionId={sessionId} messageId={id} />}
    </>
  );
}

const THUMBS = [
  ['up', 'Good', ThumbsUp],
  ['down', 'Bad', ThumbsDown],
] as const;

/** The person's rating of an answer. Pressing its button again takes it back. */
function Thumbs({
  message: { id, reactions = [] },
  changes: { react, user },
  attempt,
}: {
  readonly message: Message;
  readonly changes: Changes;
  readonly attempt: (done: Promise<unknown>) => void;
}) {
  const own = reactions.find(({ by }) => by === user)?.value;
  return THUMBS.map(([value, name, icon]) => {
    const many = reactions.filter((each) => each.value === value).length;
    return (
      <IconButton
        key={value}
        label={many > 0 ? `${name} answer, ${many} so far` : `${name} answer`}
        icon={icon}
        className={own === value ? 'on' : ''}
        aria-pressed={own === value}
        onClick={() => attempt(react(id, { value: own === value ? null : value }))}
      />
    );
  });
}

/** Switches between the versions of a message. The conversation continues from each as it did last. */
function Versions({
  message: { id, versions = [id] },
  onMove,
}: {
  readonly message: Message;
  readonly onMove: (version: string) => void;
}) {
  if (versions.length < 2) return null;
  const at = versions.indexOf(id);
  const to = (label: string, icon: typeof ChevronLeft, version: string | undefined) => (
    <IconButton
      label={label}
      icon={icon}
      disabled={version === undefined}
      onClick={() => version !== undefined && onMove(version)}
    />
  );
  return (
    <span className="versions">
      {to('Version before', ChevronLeft, versions[at - 1])}
      {at + 1} of {versions.length}
      {to('Next version', ChevronRight, versions[at + 1])}
    </span>
  );
}

function Edit({
  message,
  edit,
  onDone,
}: {
  readonly message: Message;
  readonly edit: Changes['edit'];
  readonly onDone: () => void;
}) {
  const [text, setText] = useState(() => textOf(message));
  const form = useRef<HTMLFormElement>(null);
  const done = () => {
    // Where one was before.
    form.current!.closest<HTMLElement>('.message')?.focus();
    onDone();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    // The edited message keeps its files.
    const others = message.content.filter(({ type }) => type !== 'text');
    void edit(message.id, others.length > 0 ? [{ type: 'text', text }, ...others] : text);
    done();
  };
  return (
    <form
      className="edit"
      ref={form}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && !isForInputMethod(event) && done()}
    >
      <textarea
        aria-label="The message, changed"
        dir="auto"
        rows={3}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
        autoFocus
        onChange={({ target }) => setText(target.value)}
      />
      <div className="row end">
        <button type="button" onClick={done}>
          Cancel
        </button>
        <button type="submit" className="primary">
          Send in its place
        </button>
      </div>
    </form>
  );
}
