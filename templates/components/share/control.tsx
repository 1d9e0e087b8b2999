import { useControl } from 'agent-session-gateway/client/react';
import { type FormEvent, useState } from 'react';

interface ControlProps {
  /** The session's key, such as `main`. */
  readonly id: string;
  /** Id of this page's user. */
  readonly user: string;
}

/** Who answers: the app, or a person who took over. For those who may, taking over and handing back. */
export function Control({ id, user }: ControlProps) {
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
    <section className="control" aria-label="Who answers" data-control={control ? 'person' : 'app'}>
      <p role="status">
        {isOwn && 'You have control: what you send is the answer.'}
        {control && !isOwn && `${control.by} answers.`}
        {!control && handOff && `The app asks for a person${handOff.reason ? `: ${handOff.reason}` : '.'}`}
        {!control && !handOff && 'The app answers.'}
      </p>
      {isOwn ? (
        <form onSubmit={leave}>
          <label>
            Note to the app
            <input dir="auto" value={note} onChange={({ target }) => setNote(target.value)} />
          </label>
          <button type="submit" value="answer">
            Hand back and have it answer
          </button>
          <button type="submit" value="silent">
            Hand back
          </button>
        </form>
      ) : (
        <button type="button" disabled={control !== undefined} onClick={() => attempt(takeOver())}>
          Take over
        </button>
      )}
      {problem && <p role="alert">{problem}</p>}
    </section>
  );
}
