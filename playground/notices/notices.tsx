import { clientInbox, type NoticeState } from 'agent-session-gateway/client/inbox';
import { useGateway } from 'agent-session-gateway/client/react';
import { useEffect, useState } from 'react';
import { Countdown } from '../../templates/components/ui/countdown.js';
import { Code } from '../shell/code.js';

/** Interval of reads by a visible page, in milliseconds, because the gateway does not announce deliveries. */
const LOOK_MS = 2000;

const KINDS: Readonly<Record<NoticeState['kind'], string>> = {
  run_ended: 'An answer is there',
  input_required: 'A question waits',
  schedule_fired: 'A schedule fired',
  budget_reached: 'A budget is used up',
  budget_warned: 'A budget is almost used up',
  run_held: 'a run waits for an update',
  taken_over: 'Somebody has taken over',
  hand_off: 'A person is asked for',
  message_retracted: 'A message was taken back',
  custom: 'The host tells something',
};

const TARGETS: Readonly<Record<NonNullable<NoticeState['target']>, string>> = {
  webhook: 'a webhook',
  'run-webhook': 'a webhook of the run',
  push: 'a browser',
  deliver: "the host's own way",
};

const STATES: Readonly<Record<NoticeState['state'], string>> = {
  waiting: 'waits',
  failed: 'failed, is tried again',
  told: 'told',
  dead: 'given up',
  gone: 'nobody is there any more',
  seen: 'was read before',
};

/** The notices of a session for the person, and their targets. */
export function Notices({ sessionId }: { readonly sessionId: string }) {
  const { notices, error } = useNotices(sessionId);
  return (
    <section className="tool" aria-label="Notices">
      <h2>Notices</h2>
      {error && (
        <p className="notice bad" role="alert">
          {error.message}
        </p>
      )}
      {notices?.length === 0 && <p className="muted">Nobody was told anything of {sessionId} yet.</p>}
      {notices?.map((notice) => (
        <Notice key={`${notice.id} ${notice.target} ${notice.name}`} {...notice} />
      ))}
      <Code what="read the notices" of={({ noticesRecipe }) => noticesRecipe(sessionId)} />
    </section>
  );
}

function Notice({ id, kind, at, title, target, name, state, attempts, changedAt, nextAt }: NoticeState) {
  const isBad = state === 'failed' || state === 'dead';
  return (
    <article className="card method" aria-label={id}>
      <div className="row">
        <strong dir="auto">{title ?? KINDS[kind]}</strong>
        <span className="space" />
        <time className="muted" dateTime={new Date(at).toISOString()}>
          {new Date(at).toLocaleTimeString()}
        </time>
      </div>
      <div className="row muted">
        {target && (
          <span>
            {TARGETS[target]} {name && <code>{name}</code>}
          </span>
        )}
        <span
          className={`badge ${isBad ? 'bad' : ''}`}
          title={changedAt === undefined ? undefined : new Date(changedAt).toLocaleString()}
        >
          {STATES[state]}
          {attempts > 1 && `, attempt ${attempts}`}
        </span>
        {nextAt !== undefined && (
          <span>
            due: <Countdown until={nextAt} />
          </span>
        )}
      </div>
    </article>
  );
}

function useNotices(sessionId: string) {
  const client = useGateway();
  const [found, setFound] = useState<{ readonly notices?: readonly NoticeState[]; readonly error?: Error }>(
    {},
  );
  useEffect(() => {
    const left = new AbortController();
    const inbox = clientInbox(client);
    const look = (): void => {
      if (document.visibilityState !== 'visible') return;
      inbox.notices(sessionId, { signal: left.signal }).then(
        (notices) => setFound({ notices }),
        // A session begins with its first message, and has no notices before.
        (error) =>
          left.signal.aborted || setFound(error.code === 'SESSION_NOT_FOUND' ? { notices: [] } : { error }),
      );
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => {
      clearInterval(timer);
      left.abort();
    };
  }, [client, sessionId]);
  return found;
}
