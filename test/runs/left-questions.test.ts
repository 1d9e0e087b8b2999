import { expect } from 'chai';
import { Questions } from '../../server/runs/questions.js';
import { InheritedQuestion } from '../../server/runs/resumption.js';
import { isGatewayError } from '../../shared/errors.js';

const ASKED = { callId: 'call', runId: 'run', kind: 'input', name: 'approve', input: null } as const;
const YES = { by: 'ann', output: 'yes' };

/** The questions of a run that a former process left, and the fate of an answer. */
function inherited() {
  const questions = new Questions();
  questions.add(new InheritedQuestion('run', ASKED));
  const answer = () =>
    questions.answer('call', YES).then(
      () => 'taken',
      (error: unknown) => (isGatewayError(error) ? [error.code, error.retryable === true] : error),
    );
  return { questions, answer };
}

describe('an answer to a question that is open in the log', () => {
  it('is told to come again once the session is left, whether it came before or comes after', async () => {
    const { questions, answer } = inherited();
    const early = answer();
    questions.leave();
    questions.dropRun('run');
    expect(await early).to.deep.equal(['OVERLOADED', true]);
    expect(await answer()).to.deep.equal(['OVERLOADED', true]);
  });

  it('is told that there is no question any more where the run has ended', async () => {
    const { questions, answer } = inherited();
    const early = answer();
    questions.dropRun('run');
    expect(await early).to.deep.equal(['CALL_NOT_FOUND', false]);
    expect(await answer()).to.deep.equal(['ALREADY_ANSWERED', false]);
  });
});
