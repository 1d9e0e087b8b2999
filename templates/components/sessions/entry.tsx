import type { Client, SessionSummary } from 'agent-session-gateway/client';
import { useGateway } from 'agent-session-gateway/client/react';
import { Archive, ArchiveRestore, CircleStop, Ellipsis, Pencil, Trash2 } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { plainText } from '../message/plain-text.js';
import { Beside, useAround } from '../ui/around.js';
import { Confirm } from '../ui/confirm.js';
import { isForInputMethod } from '../ui/keys.js';
import { Menu, MenuItem } from '../ui/menu.js';
import { isOverseen } from '../ui/session-id.js';

/** Actions that cannot be undone, with their warnings. */
const ENDS = {
  Close: {
    warning: 'The conversation is over then, and so is its answer. The next message begins a new one.',
    end: (client: Client, sessionId: string) => client.close(sessionId),
  },
  Delete: {
    warning: 'All that the gateway keeps of it is gone then: messages, events and title.',
    end: (client: Client, sessionId: string) => client.session(sessionId).delete(),
  },
} as const;

/** Does work, and shows its failure at the session. */
export type Attempt = (done: Promise<unknown>) => void;

/** A session in the list. A click opens it, F2 or a double click renames it, and a menu has the rest. */
export function Entry({
  session,
  unread,
  isShown,
  isStop,
  onFocus,
  href,
  onOpen,
  menu,
  onChanged,
}: {
  readonly session: SessionSummary;
  /** Answers and messages that the user has not read. */
  readonly unread: number;
  readonly isShown: boolean;
  /** Whether the Tab key leads here. */
  readonly isStop: boolean;
  readonly onFocus: () => void;
  /** The session's address in this page. @default none: it is opened by a button */
  readonly href: string | undefined;
  readonly onOpen: () => void;
  /** Further items of the menu. */
  readonly menu?: ((session: SessionSummary, attempt: Attempt) => ReactNode) | undefined;
  readonly onChanged: () => void;
}) {
  const { sessionId, status, title, preview, updatedAt, archived, owner, failed } = session;
  const client = useGateway();
  const around = useAround();
  // A session of all users is only read.
  const readOnly = around.readOnly || isOverseen(sessionId);
  const [renames, setRenames] = useState(false);
  const [asks, setAsks] = useState<keyof typeof ENDS>();
  const [problem, setProblem] = useState('');
  const name = title ?? (isOverseen(sessionId) ? 'No title' : sessionId);
  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.then(onChanged, (error: Error) => setProblem(error.message));
  };
  const Opener = href === undefined ? 'button' : 'a';
  const rename = (to: string) => {
    setRenames(false);
    if (to !== title) attempt(client.session(sessionId).update({ title: to || null }));
  };
  return (
    <li className={`entry ${isShown ? 'shown' : ''} ${unread > 0 ? 'unread' : ''}`}>
      {renames ? (
        <Rename id={sessionId} title={title ?? ''} onRename={rename} onLeave={() => setRenames(false)} />
      ) : (
        <Opener
          {...(href === undefined ? { type: 'button' as const } : { href })}
          className="opener"
          tabIndex={isStop ? 0 : -1}
          onFocus={onFocus}
          aria-current={isShown ? 'page' : undefined}
          title={isOverseen(sessionId) ? undefined : sessionId}
          onClick={onOpen}
          onDoubleClick={() => !readOnly && setRenames(true)}
          onKeyDown={({ key }: KeyboardEvent) => key === 'F2' && !readOnly && setRenames(true)}
        >
          <span className="name" dir="auto">
            {name}
            {unread > 0 && (
              <span className="count">
                {unread}
                <span className="unseen"> unread</span>
              </span>
            )}
          </span>
          <State status={failed && status === 'idle' ? 'failed' : status} at={updatedAt} />
          {(preview || owner) && (
            <span className="preview" dir="auto">
              {owner && <b>{owner.id} </b>}
              {plainText(preview ?? '')}
            </span>
          )}
        </Opener>
      )}
      {!readOnly && (
        <Menu label={`More of ${name}`} icon={Ellipsis} tabIndex={isStop ? 0 : -1}>
          <MenuItem icon={Pencil} onChoose={() => setRenames(true)}>
            Rename
          </MenuItem>
          <MenuItem
            icon={archived ? ArchiveRestore : Archive}
            onChoose={() => attempt(client.session(sessionId).update({ archived: !archived }))}
          >
            {archived ? 'Take out of the archive' : 'Archive'}
          </MenuItem>
          {menu?.(session, attempt)}
          <MenuItem icon={CircleStop} onChoose={() => setAsks('Close')}>
            Close…
          </MenuItem>
          <MenuItem icon={Trash2} className="danger" onChoose={() => setAsks('Delete')}>
            Delete…
          </MenuItem>
        </Menu>
      )}
      {isShown && !readOnly && <Beside does="change the session" sessionId={sessionId} title={name} />}
      {asks && (
        <Confirm
          title={`${asks} ${name}?`}
          action={`${asks} it`}
          onConfirm={() => attempt(ENDS[asks].end(client, sessionId))}
          onClose={() => setAsks(undefined)}
        >
          <p>{ENDS[asks].warning}</p>
        </Confirm>
      )}
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

function State({ status, at }: { readonly status: string; readonly at: number }) {
  if (status === 'idle' || status === 'closed') return <small>{timeOf(at)}</small>;
  return (
    <small className={`state ${status}`}>
      <span className="dot" aria-hidden="true" />
      {status}
    </small>
  );
}

function Rename({
  id,
  title,
  onRename,
  onLeave,
}: {
  readonly id: string;
  readonly title: string;
  readonly onRename: (title: string) => void;
  readonly onLeave: () => void;
}) {
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isForInputMethod(event)) return;
    if (event.key === 'Enter') onRename(event.currentTarget.value.trim());
    if (event.key === 'Escape') onLeave();
  };
  return (
    <input
      aria-label={`Title of ${id}`}
      placeholder="Title"
      defaultValue={title}
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
      autoFocus
      onFocus={({ target }) => target.select()}
      onKeyDown={onKeyDown}
      onBlur={onLeave}
    />
  );
}

function timeOf(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString([], { month: 'short', day: 'numeric' });
}
