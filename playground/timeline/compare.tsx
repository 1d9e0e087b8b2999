import { useGateway } from 'agent-session-gateway/client/react';
import { type FormEvent, useState } from 'react';
import { isForInputMethod } from '../../templates/components/ui/keys.js';
import { differenceOf, type Part } from './difference.js';
import type { RunShape } from './shape.js';
import { tokensOf } from './trace.js';
import { words } from './words.js';

/** Has a message answered again, as it is or with another text. The former answer stays as another version. */
export function RunAgain({ sessionId, run }: { readonly sessionId: string; readonly run: RunShape }) {
  const client = useGateway();
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState('');
  const { askedId, asked, parentRunId, stopReason } = run;
  if (askedId === undefined || parentRunId !== undefined || stopReason === undefined) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!text?.trim()) return;
    setProblem('');
    client
      .session(sessionId)
      .edit(askedId, text)
      .accepted.then(
        () => setText(undefined),
        (cause: Error) => setProblem(cause.message),
      );
  };
  return (
    <>
      {text === undefined ? (
        <button type="button" onClick={() => setText(asked)}>
          Run it again…
        </button>
      ) : (
        <form
          className="again"
          onSubmit={submit}
          onKeyDown={(event) => event.key === 'Escape' && !isForInputMethod(event) && setText(undefined)}
        >
          <textarea
            aria-label="The message, as it is asked again"
            dir="auto"
            rows={2}
            value={text}
            // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
            autoFocus
            onChange={({ target }) => setText(target.value)}
          />
          <div className="row end">
            <button type="button" onClick={() => setText(undefined)}>
              Cancel
            </button>
            <button type="submit" className="primary">
              Run it again
            </button>
          </div>
        </form>
      )}
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** Two runs beside each other: time, tokens, tools, end, and the answers with their differences. */
export function Compare({ run, other }: { readonly run: RunShape; readonly other: RunShape }) {
  const [left, right] = differenceOf(other.answer, run.answer);
  const rows: readonly (readonly [name: string, of: (run: RunShape) => string])[] = [
    ['asked', ({ asked }) => asked],
    ['time', ({ ms }) => words(ms)],
    ['tokens', ({ usage }) => tokensOf(usage) || 'not told'],
    ['tools', (shape) => toolsOf(shape) || 'none'],
    ['end', ({ stopReason, error }) => error ?? stopReason ?? 'goes on'],
  ];
  return (
    <div className="scroll" tabIndex={0}>
      <table className="compare" aria-label="Two runs">
        <thead>
          <tr>
            <td />
            <th scope="col">the other run</th>
            <th scope="col">this run</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, of]) => (
            <tr key={name} className={of(run) === of(other) ? '' : 'differs'}>
              <th scope="row">{name}</th>
              <td dir="auto">{of(other)}</td>
              <td dir="auto">{of(run)}</td>
            </tr>
          ))}
          <tr className={run.answer === other.answer ? '' : 'differs'}>
            <th scope="row">answer</th>
            <Answer parts={left} mark="del" />
            <Answer parts={right} mark="ins" />
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function Answer({ parts, mark: Mark }: { readonly parts: readonly Part[]; readonly mark: 'ins' | 'del' }) {
  return (
    <td dir="auto" className="answer">
      {parts.map(({ text, isShared }, at) =>
        isShared ? <span key={at}>{text}</span> : <Mark key={at}>{text}</Mark>,
      )}
    </td>
  );
}

function toolsOf({ lanes }: RunShape): string {
  return lanes
    .flat()
    .filter(({ kind }) => kind === 'tool')
    .map(({ name, failed }) => (failed ? `${name} (failed)` : name))
    .join(', ');
}
