import type { GrantRole, ShareParams } from 'agent-session-gateway/client/people';
import { type FormEvent, useState } from 'react';

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
  'until I stop it': undefined,
} as const;

/** How the answer came to be: what a guest need not see. */
const INNER = ['reasoning', 'toolInput', 'toolOutput', 'usage'] as const;

/** Shares a session with a user, or by a link where nobody is named. */
export function NewGrant({ roles = ['viewer', 'commenter', 'member', 'operator'], onShare }: NewGrantProps) {
  const [userId, setUserId] = useState('');
  const [role, setRole] = useState<GrantRole>(roles[0] ?? 'viewer');
  const [time, setTime] = useState<keyof typeof TIMES>('for a week');
  const [hides, setHides] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const name = userId.trim();
    onShare({
      with: name ? { userId: name } : { link: true },
      as: role,
      expiresInMs: TIMES[time],
      ...(hides && { hide: INNER }),
    });
    setUserId('');
  };
  return (
    <form onSubmit={submit} aria-label="Share with somebody">
      <label>
        User
        <input
          placeholder="Empty for a link"
          autoComplete="off"
          value={userId}
          onChange={({ target }) => setUserId(target.value)}
        />
      </label>
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
      <button type="submit">{userId.trim() ? 'Share' : 'Make a link'}</button>
    </form>
  );
}
