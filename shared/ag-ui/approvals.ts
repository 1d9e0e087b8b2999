import type { CallAnswer } from '../asked-calls.js';

/** A client's answers to confirmations, by call. Only an answer that says so approves. */
export function approvalsIn(
  resume: readonly {
    readonly interruptId: string;
    readonly status: string;
    readonly payload?: unknown | undefined;
  }[],
): Map<string, CallAnswer> {
  return new Map(
    resume.map(({ interruptId, status, payload }): [string, CallAnswer] => {
      const said = (typeof payload === 'object' && payload !== null ? payload : { approved: payload }) as {
        readonly approved?: unknown;
        readonly reason?: unknown;
        readonly input?: unknown;
      };
      const approved = status === 'resolved' && said.approved === true;
      const reason = typeof said.reason === 'string' && { reason: said.reason };
      const input = approved && said.input !== undefined && { input: said.input };
      return [interruptId, { kind: 'confirmation', approved, ...reason, ...input }];
    }),
  );
}
