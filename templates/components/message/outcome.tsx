import type { Message, StopReason } from 'agent-session-gateway/client';
import { amountsOf } from './usage.js';

const WORDS: Record<StopReason, string> = {
  end: 'Complete',
  max_tokens: 'Cut off at the limit of tokens',
  tool_use: 'Waits for the caller’s tool',
  aborted: 'Stopped',
  superseded: 'Interrupted by the next message',
  steered: 'Taken up by the running answer',
  timeout: 'Out of time',
  error: 'Failed',
  lost: 'Lost: the server went away',
  taken_over: 'A person took over',
  handed_off: 'Handed to a person',
  moderated: 'Held back by a check',
  budget: 'The budget is used up',
};

/** Styles of normal ends and of ends that somebody chose. All other ends are shown as errors. */
const TONES: Partial<Record<StopReason, string>> = {
  ...{ end: '', steered: '', taken_over: '', handed_off: '' },
  ...{ aborted: 'warn', superseded: 'warn', budget: 'warn' },
};

/** The part of a message that tells how its answer ended. */
type Ended = Pick<Message, 'stopReason' | 'error' | 'usage' | 'totalUsage' | 'createdAt' | 'endedAt'>;

/** The end, the duration and the usage of an answer. */
export function Outcome({ message }: { readonly message: Ended }) {
  if (!message.stopReason) return null;
  return (
    <p className={`outcome ${TONES[message.stopReason] ?? 'bad'}`}>
      <Ending message={message} />
    </p>
  );
}

/** The words of an outcome. A normal end is told only to screen readers. */
export function Ending({ message }: { readonly message: Ended }) {
  const { stopReason, error, usage, totalUsage, createdAt, endedAt } = message;
  const [own, all] = [amountsOf(usage ?? {}), amountsOf(totalUsage ?? {})];
  if (!stopReason) return null;
  const isWell = stopReason === 'end';
  return (
    <>
      <span className={isWell ? 'unseen' : 'ending'}>{WORDS[stopReason] ?? stopReason}</span>
      {endedAt !== undefined && <span>{lastedOf(endedAt - createdAt)}</span>}
      {own !== '' && <span>{own}</span>}
      {all !== '' && <span>{all} with its child runs</span>}
      {error && (
        <span>
          <code>{error.code}</code> {error.message}
        </span>
      )}
    </>
  );
}

const lastedOf = (ms: number): string =>
  ms < 100 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
