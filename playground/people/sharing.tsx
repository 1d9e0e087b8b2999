import type { GatewayError } from 'agent-session-gateway/client';
import { type Grant, type GrantRole, sessionSharing } from 'agent-session-gateway/client/people';
import { useGateway } from 'agent-session-gateway/client/react';
import { useEffect, useMemo, useState } from 'react';
import { Code } from '../shell/code.js';
import { shareRecipe, unshareRecipe } from '../shell/recipes.js';
import { hrefOf } from '../shell/route.js';
import { settings } from '../shell/settings.js';
import { CopyButton } from '../ui/copy.js';

const ROLES: readonly GrantRole[] = ['viewer', 'commenter', 'member', 'operator'];
/** What a guest need not see of how the answer came to be. */
const INNER = ['reasoning', 'toolInput', 'toolOutput', 'usage'] as const;

/** Where this page opens a link. A page takes its token out of the address. */
const linkTo = (token: string, sessionId: string): string =>
  `${location.origin}${location.pathname}#token=${token}&${hrefOf({ view: 'chat', sessionId }).slice(1)}`;

/** Whom the session is shared with, and a way to share it. */
export function Sharing({ sessionId }: { readonly sessionId: string }) {
  const client = useGateway();
  const sharing = useMemo(() => sessionSharing(client, sessionId), [client, sessionId]);
  const [grants, setGrants] = useState<readonly Grant[]>([]);
  const [link, setLink] = useState('');
  const [problem, setProblem] = useState<GatewayError>();
  // Who may not share it, or has not begun it, has nothing to see here.
  const load = () => sharing.grants().then(setGrants, () => setGrants([]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: it reads what it is given here
  useEffect(() => void load(), [sharing]);
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    setProblem(undefined);
    await work().catch(setProblem);
    await load();
  };
  return (
    <section aria-label={`Sharing of ${sessionId}`}>
      <h2>Sharing</h2>
      {grants.map((grant) => (
        <article key={grant.grantId} className="card method">
          <div className="row">
            <span>{'userId' in grant.with ? grant.with.userId : 'whoever has the link'}</span>
            <span className="space" />
            {grant.hide && <span className="badge">without {grant.hide.join(', ')}</span>}
            <span className="badge">{grant.as}</span>
            {!settings.readOnly && (
              <button
                type="button"
                onClick={() =>
                  change(async () => {
                    await sharing.unshare(grant.grantId);
                    setLink('');
                  })
                }
              >
                Take back
              </button>
            )}
          </div>
          <Code what={`unshare ${grant.grantId}`} of={() => unshareRecipe(sessionId, grant.grantId)} />
        </article>
      ))}
      {grants.length === 0 && <p className="muted">{sessionId} is shared with nobody.</p>}
      {link && (
        <p className="card row">
          <a href={link} target="_blank" rel="noreferrer">
            The link, shown this once
          </a>
          <CopyButton label="Copy the link" text={() => link} />
        </p>
      )}
      {problem && (
        <p className="notice bad" role="alert">
          {problem.message}
        </p>
      )}
      {!settings.readOnly && (
        <NewGrant
          sessionId={sessionId}
          onShare={(given) =>
            change(async () => {
              const { grant, token } = await sharing.share(given);
              setLink(token ? linkTo(token, grant.sessionId) : '');
            })
          }
        />
      )}
    </section>
  );
}

type Given = Parameters<ReturnType<typeof sessionSharing>['share']>[0];

function NewGrant({
  sessionId,
  onShare,
}: {
  readonly sessionId: string;
  readonly onShare: (given: Given) => Promise<void>;
}) {
  const [userId, setUserId] = useState('');
  const [role, setRole] = useState<GrantRole>('viewer');
  const [hides, setHides] = useState(false);
  const given = (): Given => ({
    with: userId.trim() ? { userId: userId.trim() } : { link: true },
    as: role,
    ...(hides && { hide: INNER }),
  });
  return (
    <form
      className="card row"
      aria-label="New grant"
      onSubmit={(event) => {
        event.preventDefault();
        void onShare(given());
      }}
    >
      <input
        aria-label="With: a user's id, or nobody for a link"
        placeholder="User id, or empty for a link"
        value={userId}
        onChange={({ target }) => setUserId(target.value)}
      />
      <select aria-label="Role" value={role} onChange={({ target }) => setRole(target.value as GrantRole)}>
        {ROLES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <label className="row">
        <input type="checkbox" checked={hides} onChange={({ target }) => setHides(target.checked)} />
        answers only
      </label>
      <button type="submit">Share</button>
      <Code what="share" of={() => shareRecipe(sessionId, given())} />
    </form>
  );
}
