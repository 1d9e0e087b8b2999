import type { Message, SendInput } from 'agent-session-gateway/client';
import { type PresenceView, sessionReactions } from 'agent-session-gateway/client/people';
import {
  type SessionView,
  useConnection,
  useGateway,
  usePresence,
  useRuns,
  useSession,
} from 'agent-session-gateway/client/react';
import { ArrowDown, CloudOff } from 'lucide-react';
import { memo, type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { plainText } from '../message/plain-text.js';
import { textOf } from '../message/text.js';
import { RunTree } from '../runs/run-tree.js';
import { useAround } from '../ui/around.js';
import { IconButton } from '../ui/icon-button.js';
import { isOverseen, isUnnamed } from '../ui/session-id.js';
import type { Changes } from './actions.js';
import { Composer } from './composer.js';
import { Greeting, type Suggestion } from './greeting.js';
import { MessageRow } from './message-row.js';
import { Question } from './question.js';
import { moveBetweenRows } from './rows.js';
import { Sending } from './sending.js';
import { useShownMessage } from './shown-message.js';
import { useStickyEnd } from './sticky-end.js';

/** Details of the page's presence: none besides its user. */
const HERE = {};

interface ChatProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** The id of who writes. With it what is written and not sent is there again after a reload, and own thumbs are shown. */
  readonly user?: string | undefined;
  /** What an empty conversation can begin with. @default those of the app */
  readonly suggestions?: readonly Suggestion[] | undefined;
  /** Id of a message to bring into sight, such as one that a search has found. */
  readonly shows?: string | undefined;
  /** Shows another session. Without it no message can be forked. */
  readonly onOpen?: (id: string) => void;
  /** Shows the run of an answer. */
  readonly onRun?: ((message: Message) => void) | undefined;
  /** Shown above the messages, such as who is there. */
  readonly bar?: (presence: PresenceView) => ReactNode;
}

/** A conversation. It shows the session's state: reload the page, or open it twice, and it shows the same. */
export function Chat({ id, user, suggestions, shows, onOpen, onRun, bar }: ChatProps) {
  const { readOnly = false, aloud = false } = useAround();
  const client = useGateway();
  const presence = usePresence(isOverseen(id) ? undefined : id, readOnly ? undefined : HERE);
  const session = useSession(id);
  const { runs, steer, abort } = useRuns(id);
  const actions = useMemo(() => (readOnly ? undefined : { steer, abort }), [readOnly, steer, abort]);
  const children = runs.find(({ lane }) => lane === 0)?.children ?? [];
  const beside = runs.filter(({ lane }) => lane > 0);
  const { run, queue, sending, regenerating, pending, status, error, hasMore } = session;
  const messages = withoutReplaced(session);
  const { edit, regenerate, move, fork } = session;
  const [edited, onEdit] = useState<string>();
  const changes = useMemo<Changes>(
    () => ({
      ...{ sessionId: id, user, onOpen, onEdit, edit, regenerate, move, fork },
      ...sessionReactions(client, id),
    }),
    [client, id, user, onOpen, edit, regenerate, move, fork],
  );
  const isEmpty = messages.length + queue.length + sending.length + runs.length === 0;
  const { box, isAway, toEnd, onScroll } = useStickyEnd(session, messages[0]?.id);
  useShownMessage(box, shows, session);
  const { send: sendHere, abort: stop } = session;
  const isUntitled = isEmpty && session.title === undefined && isUnnamed(id);
  // What does not change while an answer grows is not rendered for each piece of it.
  const send = useCallback<SessionView['send']>(
    (...args) => {
      toEnd();
      const run = sendHere(...args);
      const title = isUntitled ? titleOf(args[0]) : '';
      if (title !== '') run.accepted.then(() => client.session(id).update({ title })).catch(() => {});
      return run;
    },
    [client, id, isUntitled, sendHere, toEnd],
  );
  const lastOwn = messages.filter(({ role }) => role === 'user').at(-1)?.id;
  const editLast = useCallback(() => onEdit(lastOwn), [onEdit, lastOwn]);
  const above = useMemo(() => bar?.(presence), [bar, presence]);
  return (
    <section className="asg chat" aria-label={`Conversation ${id}`} data-status={status}>
      <div className="bars">
        <Offline />
        {above}
      </div>
      <section
        className="messages"
        ref={box}
        onScroll={onScroll}
        onKeyDown={moveBetweenRows}
        tabIndex={0}
        aria-label="Messages"
      >
        {hasMore && (
          <p className="earlier">
            <button type="button" onClick={() => void session.loadEarlier().catch(() => {})}>
              Earlier messages
            </button>
          </p>
        )}
        {isEmpty && status === 'loading' && <Skeleton />}
        {isEmpty && status !== 'loading' && <Greeting sessionId={id} suggestions={suggestions} send={send} />}
        <History
          messages={messages}
          before={session.messageCount - session.messages.length}
          changes={readOnly ? undefined : changes}
          edited={edited}
          onRun={onRun}
          isEnd={!run && queue.length + sending.length === 0}
        />
        <ol>
          {run && (
            <MessageRow
              key={run.message.id}
              message={run.message}
              app={run.app}
              progress={run.progress}
              pending={pending}
              growing={pending.length === 0 && !run.held}
            >
              {run.held && (
                <p className="note">
                  This answer waits for an update of the assistant, and goes on by itself.
                </p>
              )}
              {children.length > 0 && (
                <RunTree runs={children} label="Child runs" actions={actions} pending={pending} />
              )}
            </MessageRow>
          )}
          {queue.map(({ message, onBusy, runId }) => (
            <MessageRow key={message.id} message={message}>
              <p className="note">
                <span>{onBusy === 'steer' ? 'Waits to steer the answer' : 'Waits for its turn'}</span>
                {!readOnly && (
                  <button type="button" className="quiet" onClick={() => void session.abort({ runId })}>
                    Withdraw
                  </button>
                )}
              </p>
            </MessageRow>
          ))}
          {sending.map((each) => (
            <Sending key={each.message.id} sending={each} />
          ))}
        </ol>
        {beside.length > 0 && (
          <section className="beside" aria-label="Beside the conversation">
            <h2>Beside the conversation</h2>
            <RunTree runs={beside} label="Runs beside it" actions={actions} pending={pending} open />
          </section>
        )}
        {pending.map((question) => (
          <Question key={question.callId} question={question} session={session} sessionId={id} />
        ))}
      </section>
      {isAway && <IconButton label="To the end" icon={ArrowDown} className="to-end" onClick={toEnd} />}
      {error && (
        <p className="notice bad" role="alert">
          {error.message}{' '}
          <button type="button" onClick={session.retry}>
            Try again
          </button>
        </p>
      )}
      {regenerating?.status === 'failed' && (
        <p className="notice bad" role="alert">
          No new answer: {regenerating.error?.message}{' '}
          <button type="button" onClick={regenerating.retry}>
            Try again
          </button>{' '}
          <button type="button" onClick={regenerating.discard}>
            Leave it
          </button>
        </p>
      )}
      <Announcer status={status} />
      {aloud && <Aloud message={run?.message ?? messages.at(-1)} isGrowing={run !== null} />}
      {!readOnly && (
        <Composer
          send={send}
          abort={stop}
          isBusy={run !== null || queue.length > 0}
          isBeside={session.lanes !== undefined}
          status={status}
          sessionId={id}
          user={user}
          onTyping={presence.typing}
          onEditLast={editLast}
        />
      )}
    </section>
  );
}

/** Messages in one part of the history. */
const PART = 25;

/**
 * The finished messages. Renders when a message comes or goes, but not while an answer grows. Each part keeps its messages when others come before or
 * after it, and costs the browser no work out of sight.
 */
const History = memo(function History({
  messages,
  before,
  changes,
  edited,
  onRun,
  isEnd,
}: {
  readonly messages: readonly Message[];
  /** Number of messages before the first of these. */
  readonly before: number;
  readonly changes: Changes | undefined;
  /** The message that somebody is changing. */
  readonly edited: string | undefined;
  readonly onRun: ChatProps['onRun'];
  readonly isEnd: boolean;
}) {
  const first = Math.floor(before / PART);
  const parts = Math.ceil((before + messages.length) / PART) - first;
  return Array.from({ length: parts }, (_, at) => {
    const from = Math.max(0, (first + at) * PART - before);
    const own = messages.slice(from, (first + at + 1) * PART - before);
    return (
      <ol key={first + at} className="part">
        {own.map((message, place) => (
          <MessageRow
            key={message.id}
            message={message}
            changes={changes}
            edits={message.id === edited}
            onRun={onRun}
            isLast={isEnd && from + place === messages.length - 1}
          />
        ))}
      </ol>
    );
  });
});

/** The beginning of a message, in one line, as the title of its session. */
function titleOf(input: SendInput): string {
  const text = typeof input === 'string' ? input : Array.isArray(input) ? textOf({ content: input }) : '';
  const line = plainText(text);
  return line.length > 60 ? `${line.slice(0, 60).replace(/\s+\S*$/, '')}…` : line;
}

/** Says that messages wait while there is no connection. */
function Offline() {
  const health = useConnection();
  if (health === 'online' || health === 'connecting') return null;
  return (
    <p className="offline-bar" role="status">
      <CloudOff aria-hidden="true" />
      {health === 'offline'
        ? 'No connection. What you send is kept, and goes out when it is back.'
        : 'The gateway refuses this token: use another one.'}
    </p>
  );
}

function Skeleton() {
  return (
    <div className="skeleton" role="status" aria-label="Loading the conversation">
      <i />
      <i />
      <i />
    </div>
  );
}

/** The messages without those that this page is replacing. If somebody else changed the conversation first, they come back. */
function withoutReplaced({ messages, sending, regenerating }: SessionView): readonly Message[] {
  const asked = [...sending.map(({ replaces, status }) => ({ id: replaces, status }))];
  if (regenerating) asked.push({ id: regenerating.messageId, status: regenerating.status });
  const left = new Set(asked.flatMap(({ id, status }) => (id && status === 'sending' ? [id] : [])));
  const end = messages.findIndex(({ id }) => left.has(id));
  return end < 0 ? messages : messages.slice(0, end);
}

/** Has screen readers say the paragraphs of an answer, each once it is whole. */
function Aloud({
  message,
  isGrowing,
}: {
  readonly message: Message | undefined;
  readonly isGrowing: boolean;
}) {
  const paragraphs = message?.role === 'assistant' ? textOf(message).split(/\n{2,}/) : [];
  return (
    <div className="unseen" role="log" aria-label="The answer, as it comes">
      {paragraphs.slice(0, isGrowing ? -1 : undefined).map((paragraph, at) => (
        <p key={`${message?.id} ${at}`}>{plainText(paragraph)}</p>
      ))}
    </div>
  );
}

/** Announces the session's status to screen readers, because the whole text would be too much. */
function Announcer({ status }: { readonly status: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    setSaid((before) => {
      if (status === 'running') return 'Answering';
      if (status === 'waiting') return 'Waiting for your answer';
      return before === '' ? '' : 'The answer is there';
    });
  }, [status]);
  return (
    <p className="unseen" role="status">
      {said}
    </p>
  );
}
