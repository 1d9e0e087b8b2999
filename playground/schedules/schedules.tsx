import { useSchedules } from 'agent-session-gateway/client/react';
import type { Schedule } from 'agent-session-gateway/client/schedules';
import { useState } from 'react';
import { Countdown } from '../../templates/components/ui/countdown.js';
import { Code } from '../shell/code.js';
import { settings } from '../shell/settings.js';

/** The times of a schedule, as its author wrote them. */
function timesOf({ at, every, zone }: Schedule): string {
  if (at !== undefined) return `once, ${new Date(at).toLocaleString()}`;
  if (typeof every === 'string') return `${every} (${zone ?? 'UTC'})`;
  return `every ${every!.ms / 1000} s`;
}

/** The schedules of the session, and a form to add one. */
export function Schedules({ sessionId }: { readonly sessionId: string }) {
  const { schedules, error, isLoading, schedule, unschedule } = useSchedules(sessionId);
  const [problem, setProblem] = useState<unknown>();
  const failure = (problem ?? error) as Error | undefined;
  return (
    <section className="tool" aria-label={`Schedules of ${sessionId}`}>
      <h2>Schedules</h2>
      {schedules.map((one) => (
        <article key={one.id} className="card method" title={one.id}>
          <strong dir="auto">{one.message}</strong>
          <div className="row muted">
            {timesOf(one)}
            <span className="space" />
            <span>
              due: <Countdown until={one.nextAt} />
            </span>
            {!settings.readOnly && (
              <button
                type="button"
                aria-label={`Take back ${one.message}`}
                onClick={() => unschedule(one.id).catch(setProblem)}
              >
                Take back
              </button>
            )}
          </div>
          <Code
            what={`unschedule ${one.id}`}
            of={({ unscheduleRecipe }) => unscheduleRecipe(sessionId, one.id)}
          />
        </article>
      ))}
      {schedules.length === 0 && !isLoading && <p className="muted">Nothing is scheduled in {sessionId}.</p>}
      {failure && (
        <p className="notice bad" role="alert">
          {failure.message}
        </p>
      )}
      {!settings.readOnly && (
        <NewSchedule
          sessionId={sessionId}
          onSet={(given) => {
            setProblem(undefined);
            return schedule(given).then(
              () => true,
              (cause) => {
                setProblem(cause);
                return false;
              },
            );
          }}
        />
      )}
    </section>
  );
}

type Given = Parameters<ReturnType<typeof useSchedules>['schedule']>[0];

function NewSchedule({
  sessionId,
  onSet,
}: {
  readonly sessionId: string;
  readonly onSet: (given: Given) => Promise<boolean>;
}) {
  const [message, setMessage] = useState('');
  const [times, setTimes] = useState('');
  const isDelay = /^\d+$/.test(times.trim());
  const given = (): Given => {
    if (isDelay) return { message, at: Date.now() + Number(times) * 1000 };
    return { message, every: times.trim(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  };
  return (
    <form
      className="card row"
      aria-label="New schedule"
      onSubmit={(event) => {
        event.preventDefault();
        void onSet(given()).then((isSet) => isSet && setMessage(''));
      }}
    >
      <input
        aria-label="Message"
        placeholder="Message"
        required
        value={message}
        onChange={({ target }) => setMessage(target.value)}
      />
      <input
        aria-label="When: in so many seconds, or a cron expression"
        placeholder="10, or 0 9 * * 1-5"
        required
        value={times}
        onChange={({ target }) => setTimes(target.value)}
      />
      <button type="submit">Schedule</button>
      <Code what="schedule" of={({ scheduleRecipe }) => scheduleRecipe(sessionId, given())} />
    </form>
  );
}
