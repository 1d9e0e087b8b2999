import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { PendingQuestion } from '../../shared/fold.js';
import type { Confirmation, ConfirmationRequest, Question } from '../apps/application.js';
import { checkPolicy } from '../apps/confirm-policy.js';
import { isPromise } from '../async/maybe-promise.js';
import { givenId, newCallId } from '../ids.js';
import { ownOf } from '../schema/check-logged.js';
import { checkSchema } from '../schema/check-schema.js';
import { toJsonSchema } from '../schema/json-schema.js';
import { validate } from '../schema/validate.js';
import { policyOf } from './approvals.js';
import type { Answer } from './questions.js';
import { type Met, openQuestion } from './rehearsal.js';
import type { RunScope } from './run-scope.js';
import { noteInStep } from './steps.js';
import { confirmation, question } from './tool-call.js';
import { ToolCallError } from './tool-error.js';

/** Asks the person. @throws ToolCallError if the question is declined */
export async function ask(
  scope: RunScope,
  { name, payload: said, schema: given }: Question<StandardSchemaV1 | undefined>,
): Promise<unknown> {
  givenId(name, 'name');
  const { app, resumption } = scope;
  const now = scope.checked('data', name, said);
  const payload = isPromise(now) ? await now : now;
  if (given) checkSchema(given, `ask.${name}.schema`);
  const schema: StandardSchemaV1 | undefined = given ?? ownOf(app.questions, name);
  const former = resumption?.takeAnswer('input', name, payload);
  // A declined question looks like one whose answer is nothing.
  if (former?.output != null) return schema ? validate(schema, former.output, 'output') : former.output;
  const pending = resumption?.takeQuestion(name, payload) ?? null;
  const callId = pending?.callId ?? newCallId();
  const { rehearsal } = scope.port;
  if (rehearsal) return rehearsal.meets(asking(name, pending));
  noteInStep(callId);
  const document = schema ? toJsonSchema(schema, 'input').schema : null;
  const event = {
    callId,
    name,
    ...(payload !== undefined && { payload }),
    ...(document !== null && { schema: document }),
  };
  const answer = await question(scope, event, {
    announced: pending !== null,
    ...(schema && { check: async (output) => validate(schema, output, 'output') }),
  });
  if (answer.approved === false) {
    const why = answer.reason ? `Declined: ${answer.reason}` : 'Declined';
    throw new ToolCallError({ callId, toolName: name, denied: true }, why);
  }
  return answer.output;
}

/** Asks the person for consent. @throws GatewayError `INVALID_PARAMS` */
export async function confirm(scope: RunScope, request: ConfirmationRequest): Promise<Confirmation> {
  const { name, input: said, message: words, callId, ...given } = request;
  checkPolicy(given);
  givenId(name, 'name');
  if (callId !== undefined) givenId(callId, 'callId');
  const [input, message] = scope.gate
    ? [await scope.checked('tool-input', name, said), await scope.checked('data', name, words)]
    : [said, words];
  const { resumption } = scope;
  const former = resumption?.takeAnswer('confirmation', name, input ?? null);
  if (former) return confirmationOf(former);
  const pending = resumption?.takeConfirmation(name, input) ?? null;
  const { rehearsal } = scope.port;
  if (rehearsal) return rehearsal.meets(asking(name, pending));
  const policy = pending ? pending.policy : policyOf(given, input, scope.now());
  const asked = {
    callId: pending?.callId ?? callId ?? newCallId(),
    name,
    input: input ?? null,
    ...(message !== undefined && { message }),
    ...(policy && { policy }),
  };
  noteInStep(asked.callId);
  return confirmationOf(
    await confirmation(scope, asked, {
      announced: pending !== null,
      check: (changed) => Promise.resolve(changed),
    }),
  );
}

/** A question that a rehearsal comes to. */
const asking = (name: string, pending: PendingQuestion | null): Met => ({
  ...{ what: 'question', name },
  ...(pending && { open: openQuestion(pending.callId) }),
});

const confirmationOf = (answer: Partial<Answer>): Confirmation => ({
  approved: answer.approved === true,
  ...(answer.reason !== undefined && { reason: answer.reason }),
  ...(answer.input !== undefined && { input: answer.input }),
  ...(answer.votes && { votes: answer.votes }),
  ...(answer.expired && { expired: true }),
});
