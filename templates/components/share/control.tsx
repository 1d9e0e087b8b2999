import { useControl } from 'agent-session-gateway/client/react';
import { Hand, Undo2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Beside, useAround } from '../ui/around.js';

interface ControlProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** Id of this page's user. */
  readonly user: string;
}

/** Who answers: the app, or a person who took over. For those who may, taking over and handing back. */
export function Control({ id, user }: ControlProps) {
  const { readOnly } = useAround();
  const { control, handOff, takeOver, handBack } = useControl(id);
  const [note, setNote] = useState('');
  const [problem, setProblem] = useState('');
  const attempt = (work: Promise<unknown>) => {
    setProblem('');
    work.then(
      () => setNote(''),
      (cause: Error) => setProblem(cause.message),
    );
  };
  const leave = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const answer = (submitter as HTMLButtonElement | null)?.value === 'answer';
    attempt(handBack({ ...(note && { note }), answer }));
  };
  const isOwn = control?.by === user;
  return (
    <section
      className="asg control"
      aria-label="Who answers"
      data-control={control ? 'person' : handOff ? 'asked' : 'app'}
    >
      <p role="status">
        {isOwn && 'You have control: what you send is the answer.'}
        {control && !isOwn && `${control.by} answers.`}
        {!control && handOff && `The app asks for a person${handOff.reason ? `: ${handOff.reason}` : '.'}`}
        {!control && !handOff && <span className="unseen">The app answers.</span>}
      </p>
      {isOwn && !readOnly && (
        <form className="row" onSubmit={leave}>
          <input
            aria-label="Note to the app"
            placeholder="Note to the app (optional)"
            dir="auto"
            value={note}
            onChange={({ target }) => setNote(target.value)}
          />
          <button type="submit" value="answer" data-tip="The app answers what was said last">
            <Undo2 aria-hidden="true" />
            Hand back and have it answer
          </button>
          <button type="submit" value="silent">
            Hand back
          </button>
        </form>
      )}
      {!control && !readOnly && (
        <button type="button" className="quiet" onClick={() => attempt(takeOver())}>
          <Hand aria-hidden="true" />
          Take over
        </button>
      )}
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      {!readOnly && <Beside does={control ? 'hand back' : 'take over'} sessionId={id} />}
    </section>
  );
}
