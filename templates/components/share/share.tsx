import { type Grant, type GrantRole, sessionSharing } from 'agent-session-gateway/client/people';
import { useGateway, useSessionEvents } from 'agent-session-gateway/client/react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useAround } from '../ui/around.js';
import { NewGrant } from './new-grant.js';

interface ShareProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** The roles that can be given, the least first. */
  readonly roles?: readonly GrantRole[];
}

/** Whom a session is shared with, as what and until when; sharing it, by a link too; taking that back. */
export function Share({ id, roles }: ShareProps) {
  const { linkTo = (token: string) => token } = useAround();
  const client = useGateway();
  const sharing = useMemo(() => sessionSharing(client, id), [client, id]);
  const [grants, setGrants] = useState<readonly Grant[]>([]);
  const [link, setLink] = useState('');
  const [problem, setProblem] = useState('');
  const load = useCallback(() => {
    sharing.grants().then(setGrants, (cause) => {
      setGrants([]);
      // A session that has not begun is shared with nobody.
      if (cause.code !== 'SESSION_NOT_FOUND') setProblem(cause.message);
    });
  }, [sharing]);
  useEffect(load, [load]);
  // Others share it too, and what ends by itself is told as well.
  useSessionEvents(id, load, { types: ['grant_added', 'grant_removed'], onError: load });

  const attempt = (work: Promise<unknown>) => {
    setProblem('');
    return work.then(load, (cause: Error) => setProblem(cause.message));
  };
  const share = async (given: Parameters<typeof sharing.share>[0]) => {
    const { grant, token, url } = await sharing.share(given);
    setLink(token ? (url ?? linkTo(token, grant.sessionId)) : '');
  };

  return (
    <section className="asg share" aria-label="Sharing">
      {grants.length === 0 ? (
        <p>Only you see this conversation.</p>
      ) : (
        <ul>
          {grants.map((grant) => (
            <li key={grant.grantId}>
              <span>{nameOf(grant)}</span>
              <small>
                {grant.as}
                {grant.hide && ', answers only'}
                {grant.expiresAt !== undefined && <Until at={grant.expiresAt} />}
              </small>
              <button
                type="button"
                aria-label={`Take back from ${nameOf(grant)}`}
                onClick={() => {
                  setLink('');
                  void attempt(sharing.unshare(grant.grantId));
                }}
              >
                Take back
              </button>
            </li>
          ))}
        </ul>
      )}
      {/* The gateway keeps no token: it can be shown this once. */}
      <div role="status">{link && <NewLink link={link} />}</div>
      {problem && <p role="alert">{problem}</p>}
      <NewGrant roles={roles} onShare={(given) => attempt(share(given))} />
    </section>
  );
}

const nameOf = (grant: Grant): string =>
  'userId' in grant.with ? grant.with.userId : `a link of ${timeOf(new Date(grant.at))}`;

const timeOf = (date: Date): string =>
  date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

function Until({ at }: { readonly at: number }) {
  const date = new Date(at);
  return (
    <>
      {', until '}
      <time dateTime={date.toISOString()}>{timeOf(date)}</time>
    </>
  );
}

function NewLink({ link }: { readonly link: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <p className="share-link">
      <label>
        The link, shown this once
        <input readOnly value={link} onFocus={({ target }) => target.select()} />
      </label>
      <button
        type="button"
        onClick={() =>
          navigator.clipboard?.writeText(link).then(
            () => setCopied(true),
            () => {},
          )
        }
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </p>
  );
}
