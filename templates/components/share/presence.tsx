import type { PresenceView } from 'agent-session-gateway/client/people';
import { usePresence } from 'agent-session-gateway/client/react';

/** Most people that are shown one by one. */
const MOST = 5;

interface PresenceProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** What others are told of this page's user. Without it this page is not shown to them. */
  readonly name?: string;
}

/** Who else has the session open, and who types. A page with a `Chat` has the same by its `bar`. */
export function Presence({ id, name }: PresenceProps) {
  const presence = usePresence(id, name === undefined ? undefined : { name });
  if (presence.error) return <p role="alert">{presence.error.message}</p>;
  return (
    <section className="asg presence" aria-label="Who is here">
      <Faces presence={presence} />
    </section>
  );
}

/** The other people of a session, and who of them types. */
export function Faces({ presence: { members, me } }: { readonly presence: PresenceView }) {
  const others = members.filter((member) => member.id !== me);
  const names = new Map(others.map(({ userId, data }) => [userId, nameIn(data) ?? userId]));
  const typing = new Set(others.filter(({ state }) => state === 'typing').map(({ userId }) => userId));
  const typed = [...typing].map((userId) => names.get(userId)).join(', ');
  return (
    <>
      <ul className="row" aria-label="Who is here">
        {[...names].slice(0, MOST).map(([userId, name]) => (
          <li
            key={userId}
            className="face"
            data-state={typing.has(userId) ? 'typing' : 'here'}
            data-tip={name}
          >
            <span className="unseen">{name}</span>
            <span aria-hidden="true">{[...name].slice(0, 1).join('').toUpperCase()}</span>
          </li>
        ))}
        {names.size > MOST && <li className="muted">and {names.size - MOST} more</li>}
      </ul>
      <span className="muted" role="status">
        {typed && `${typed} ${typing.size > 1 ? 'are' : 'is'} typing`}
      </span>
    </>
  );
}

const nameIn = (data: unknown): string | undefined =>
  typeof data === 'object' && data !== null && 'name' in data ? String(data.name) : undefined;
