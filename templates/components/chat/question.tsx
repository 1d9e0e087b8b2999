import type { PendingQuestion } from 'agent-session-gateway/client';
import type { SessionView } from 'agent-session-gateway/client/react';
import { ChevronDown, MessageCircleQuestionMark, ShieldQuestionMark } from 'lucide-react';
import { useState } from 'react';
import { SchemaForm } from '../form/schema-form.js';
import { appOf, useApps } from '../ui/apps.js';
import { Beside, useAround } from '../ui/around.js';
import { Countdown } from '../ui/countdown.js';
import { IconButton } from '../ui/icon-button.js';
import { Json } from '../ui/json.js';

/** Whether the gateway asks, such as of a budget that is used up: there is no tool, and no input to change. */
const isOfGate = (callId: string): boolean => callId.startsWith('gate_');

/** A pending request to a person: the consent to a tool call, or a question. Any page of the session may answer. */
export function Question({
  question,
  session,
  sessionId,
}: {
  readonly question: PendingQuestion;
  readonly session: SessionView;
  readonly sessionId: string;
}) {
  const { callId, kind, name, message } = question;
  const { readOnly } = useAround();
  const [problem, setProblem] = useState<unknown>();
  const [isPending, setPending] = useState(false);
  const answer = (sent: Promise<unknown>) => {
    setPending(true);
    setProblem(undefined);
    sent.catch(setProblem).finally(() => setPending(false));
  };
  const isConfirmation = kind === 'confirmation';
  return (
    <section className="card ask" aria-label={isConfirmation ? `Confirm ${name}` : `Question ${name}`}>
      <h2>
        {isConfirmation ? (
          <ShieldQuestionMark aria-hidden="true" />
        ) : (
          <MessageCircleQuestionMark aria-hidden="true" />
        )}
        {message ?? (isConfirmation ? `Allow ${name}?` : name)}
      </h2>
      {readOnly ? (
        question.input !== undefined && <Json value={question.input} label="Input" />
      ) : isConfirmation ? (
        <Confirmation
          question={question}
          sessionId={sessionId}
          isPending={isPending}
          answer={answer}
          session={session}
        />
      ) : (
        <>
          {question.input !== undefined && <Json value={question.input} label="What is asked" />}
          <SchemaForm
            schema={question.schema ?? { type: 'string' }}
            label="Answer"
            isPending={isPending}
            problem={problem}
            onSubmit={(output) => answer(session.respond(callId, { output }))}
          />
        </>
      )}
      {isConfirmation && problem !== undefined && (
        <p className="notice bad" role="alert">
          {(problem as Error).message}
        </p>
      )}
    </section>
  );
}

/** The input of a tool: its fields with their values, and as JSON what has more than values in it. */
function Input({ value, name }: { readonly value: unknown; readonly name: string }) {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const isFlat = fields.length > 0 && !fields.some(([, field]) => typeof field === 'object');
  if (!isFlat || Array.isArray(value)) return <Json value={value} label={`Input of ${name}`} />;
  return (
    <dl className="fields" aria-label={`Input of ${name}`}>
      {fields.map(([key, field]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd dir="auto">{String(field)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The policy of a confirmation: who may decide, how many must, the votes so far, and the time limit. */
function Policy({ question: { callId, policy, votes = [] } }: { readonly question: PendingQuestion }) {
  if (!policy) return null;
  const { roles, approvals, expiresAt, onExpiry, escalateAt, escalateRoles } = policy;
  const isOfGateway = isOfGate(callId);
  return (
    <ul className="muted" aria-label="Policy">
      <li>
        {votes.filter(({ approved }) => approved).length} of {approvals} approvals
        {votes.length > 0 && `: ${votes.map(({ by }) => by).join(', ')}`}
      </li>
      {roles && <li>by {roles.join(', ')}</li>}
      {escalateAt !== undefined && (
        <li>
          {escalateRoles?.join(', ')} may decide, too, in <Countdown until={escalateAt} />
        </li>
      )}
      {expiresAt !== undefined && (
        <li>
          {isOfGateway && onExpiry === 'approve' ? 'goes on by itself' : onExpiry} in{' '}
          <Countdown until={expiresAt} />
        </li>
      )}
    </ul>
  );
}

function Confirmation({
  question,
  session,
  sessionId,
  isPending,
  answer,
}: {
  readonly question: PendingQuestion;
  readonly session: SessionView;
  readonly sessionId: string;
  readonly isPending: boolean;
  readonly answer: (sent: Promise<unknown>) => void;
}) {
  const { callId, name, input } = question;
  const isOfGateway = isOfGate(callId);
  const [reason, setReason] = useState<string>();
  const [edits, setEdits] = useState(false);
  const schema = appOf(useApps(), sessionId)?.tools.find((tool) => tool.name === name)?.input;
  if (edits) {
    return (
      <>
        <SchemaForm
          schema={schema}
          initial={input}
          label="Approve with this input"
          isPending={isPending}
          onSubmit={(changed) => answer(session.approve(callId, changed))}
        />
        <button type="button" className="quiet" onClick={() => setEdits(false)}>
          Back
        </button>
      </>
    );
  }
  return (
    <>
      {!isOfGateway && <Input value={input} name={name} />}
      <Policy question={question} />
      <form
        className="decide"
        onSubmit={(event) => {
          event.preventDefault();
          answer(session.deny(callId, reason || undefined));
        }}
      >
        <div className="row">
          <button
            type="button"
            className="primary"
            disabled={isPending}
            onClick={() => answer(session.approve(callId))}
          >
            {isOfGateway ? 'Go on' : 'Approve'}
          </button>
          <span className="deny">
            <button type="submit" className="danger" disabled={isPending}>
              {isOfGateway ? 'End the answer' : 'Deny'}
            </button>
            <IconButton
              label="Deny with a reason"
              icon={ChevronDown}
              aria-expanded={reason !== undefined}
              onClick={() => setReason(reason === undefined ? '' : undefined)}
            />
          </span>
          {!isOfGateway && (
            <button type="button" className="quiet" disabled={isPending} onClick={() => setEdits(true)}>
              Edit input
            </button>
          )}
        </div>
        {reason !== undefined && (
          <input
            aria-label="Reason for denying"
            placeholder="Why not? Enter denies it"
            dir="auto"
            value={reason}
            // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
            autoFocus
            onChange={({ target }) => setReason(target.value)}
          />
        )}
      </form>
      <Beside does="approve" sessionId={sessionId} callId={callId} />
    </>
  );
}
