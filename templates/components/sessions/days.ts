import type { SessionSummary } from 'agent-session-gateway/client';

const DAY_MS = 86_400_000;

/** The sessions that were last used on one day or in one month, the latest first. */
export interface Day {
  readonly name: string;
  readonly sessions: readonly SessionSummary[];
}

/** Groups sorted sessions under today, yesterday, this week, and earlier months. */
export function byDay(sessions: readonly SessionSummary[], now: number): readonly Day[] {
  const days: { name: string; sessions: SessionSummary[] }[] = [];
  for (const session of sessions) {
    const name = dayOf(session.updatedAt, now);
    const day = days.at(-1);
    if (day?.name === name) day.sessions.push(session);
    else days.push({ name, sessions: [session] });
  }
  return days;
}

function dayOf(at: number, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (at >= midnight) return 'Today';
  if (at >= midnight - DAY_MS) return 'Yesterday';
  if (at >= midnight - 6 * DAY_MS) return 'This week';
  return new Date(at).toLocaleDateString([], { month: 'long', year: 'numeric' });
}
