import type { GrantRole, ShareParams } from 'agent-session-gateway/client/people';
import { type FormEvent, type KeyboardEvent, useId, useState } from 'react';

interface NewGrantProps {
  readonly roles?: readonly GrantRole[] | undefined;
  readonly onShare: (grant: Omit<ShareParams, 'sessionId'>) => void;
}

const ROLES = {
  viewer: 'may read',
  commenter: 'may read and react',
  member: 'may read and write',
  operator: 'may take over and share',
} as const;

const HOUR_MS = 3_600_000;
const TIMES = {
  'for an hour': HOUR_MS,
  'for a day': 24 * HOUR_MS,
  'for a week': 7 * 24 * HOUR_MS,
  'until I take it back': undefined,
} as const;

/** How the answer came to be: what a guest need not see. */
const INNER = ['reasoning', 'toolInput', 'toolOutput', 'usage'] as const;

const WAYS = { person: 'With a person', link: 'By a link' } as const;
type Way = keyof typeof WAYS;

/** Shares a session with a user, or by a link. */
export function NewGrant({ roles = ['viewer', 'commenter', 'member', 'operator'], onShare }: NewGrantProps) {
  const id = useId();
  const [way, setWay] = useState<Way>('person');
  const [userId, setUserId] = useState('');
  const [role, setRole] = useState<GrantRole>(roles[0] ?? 'viewer');
  const [time, setTime] = useState<keyof typeof TIMES>('for a week');
  const [hides, setHides] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onShare({
      with: way === 'person' ? { userId: userId.trim() } : { link: true },
      as: role,
      expiresInMs: TIMES[time],
      ...(hides && { hide: INNER }),
    });
    setUserId('');
  };
  return (
    <>
      <Ways way={way} id={id} onWay={setWay} />
      <div id={id} role="tabpanel" aria-label={WAYS[way]}>
        <form onSubmit={submit} aria-label={WAYS[way]}>
          {way === 'person' && (
            <label>
              User
              <input
                autoComplete="off"
                required
                value={userId}
                onChange={({ target }) => setUserId(target.value)}
              />
            </label>
          )}
          <label>
            Role
            <select value={role} onChange={({ target }) => setRole(target.value as GrantRole)}>
              {roles.map((each) => (
                <option key={each} value={each}>{`${each}: ${ROLES[each]}`}</option>
              ))}
            </select>
          </label>
          <label>
            Time
            <select value={time} onChange={({ target }) => setTime(target.value as keyof typeof TIMES)}>
              {Object.keys(TIMES).map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <label>
            <input type="checkbox" checked={hides} onChange={({ target }) => setHides(target.checked)} />
            Answers only
          </label>
          <button type="submit">{way === 'person' ? 'Share' : 'Make a link'}</button>
        </form>
      </div>
    </>
  );
}

/** Tabs: the arrows go from one to the other. */
function Ways({
  way,
  id,
  onWay,
}: {
  readonly way: Way;
  readonly id: string;
  readonly onWay: (way: Way) => void;
}) {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    onWay(way === 'person' ? 'link' : 'person');
    event.currentTarget.querySelector<HTMLElement>('[aria-selected="false"]')?.focus();
  };
  return (
    <div role="tablist" aria-label="Share" className="row ways" onKeyDown={onKeyDown}>
      {(Object.keys(WAYS) as Way[]).map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          aria-selected={each === way}
          aria-controls={id}
          tabIndex={each === way ? 0 : -1}
          onClick={() => onWay(each)}
        >
          {WAYS[each]}
        </button>
      ))}
    </div>
  );
}
