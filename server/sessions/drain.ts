import type { SessionDirectory } from './directory.js';

/** Lets runs finish within a bound, ends the rest as `lost`, and gives every session up with what it appended stored. */
export async function drainSessions(sessions: SessionDirectory, drainMs: number): Promise<void> {
  const live = [...sessions.values()];
  const running = live.flatMap((session) => session.runs.queue.all().map((run) => run.ended));
  if (running.length > 0) await within(Promise.all(running), drainMs);
  for (const session of live)
    session.runs.endAll({ stopReason: 'lost', reason: 'the gateway is shutting down' });
  await Promise.all(live.map((session) => session.release()));
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((resolve) => {
    if (ms <= 0x7fffffff) timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, bound]);
  clearTimeout(timer);
}
