import { usePresence } from 'agent-session-gateway/client/react';

interface PresenceProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** What others are told of this page's user. Without it this page is not shown to them. */
  readonly name?: string;
}

/** Who else has the session open, and who types: call `typing` of `usePresence` where they write. */
export function Presence({ id, name }: PresenceProps) {
  const { members, me, error } = usePresence(id, name === undefined ? undefined : { name });
  const others = members.filter((member) => member.id !== me);
  const names = new Map(others.map(({ userId, data }) => [userId, nameIn(data) ?? userId]));
  const typing = new Set(others.filter(({ state }) => state === 'typing').map(({ userId }) => userId));
  if (error) return <p role="alert">{error.message}</p>;
  return (
    <section className="presence" aria-label="Who is here">
      <ul>
        {[...names].map(([userId, shown]) => (
          <li key={userId} data-state={typing.has(userId) ? 'typing' : 'here'} dir="auto">
            {shown}
          </li>
        ))}
      </ul>
      <p role="status">
        {typing.size > 0 && `${[...typing].map((userId) => names.get(userId)).join(', ')} typing…`}
      </p>
    </section>
  );
}

const nameIn = (data: unknown): string | undefined =>
  typeof data === 'object' && data !== null && 'name' in data ? String(data.name) : undefined;
