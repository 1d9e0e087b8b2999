import type { Client, GivenOutput, Message } from 'agent-session-gateway/client';
import { useGateway } from 'agent-session-gateway/client/react';
import { type FormEvent, useState } from 'react';
import { useAround } from '../../templates/components/ui/around.js';
import { isForInputMethod } from '../../templates/components/ui/keys.js';
import { exportMessages } from '../shell/gateway.js';
import { hrefOf } from '../shell/route.js';
import { differenceOf, type Part } from './difference.js';
import type { RunShape } from './shape.js';
import { tokensOf } from './trace.js';
import { words } from './words.js';

/** The place to ask a message again: beside its former answer, in a copy of the session up to it, or in a session of another app. */
type Where = 'here' | 'copy' | { readonly app: string };

const messagesOf = async (sessionId: string): Promise<Message[]> =>
  (await exportMessages(sessionId))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** A message that is asked again. */
interface Again {
  readonly messageId: string;
  readonly text: string;
  readonly where: Where;
  /** Outputs of tools, in place of calls. */
  readonly toolOutputs: readonly GivenOutput[];
}

/** Asks a message again. Resolves with the session that answers it. */
async function askAgain(client: Client, sessionId: string, { messageId, text, where, toolOutputs }: Again) {
  const given = toolOutputs.length > 0 ? { toolOutputs } : {};
  if (where === 'here') {
    await client.session(sessionId).edit(messageId, text, given).accepted;
    return sessionId;
  }
  const name = `${sessionId.replace(/^[^:]*:/, '').slice(0, 100)}-${Date.now().toString(36)}`;
  if (where === 'copy') {
    const copy = await client.session(sessionId).fork(name, { at: messageId });
    await client.session(copy.sessionId).edit(messageId, text, given).accepted;
    return copy.sessionId;
  }
  const to = client.session(`${where.app}:${name}`);
  const all = await messagesOf(sessionId);
  const before = all.slice(
    0,
    Math.max(
      0,
      all.findIndex(({ id }) => id === messageId),
    ),
  );
  if (before.length > 0) await to.import(before);
  await to.send(text, given).accepted;
  return to.id;
}

/** Has a message answered again, as it is, with another text or other outputs of tools, here, in a copy of the session, or by another app. The former answer stays. */
export function RunAgain({ sessionId, run }: { readonly sessionId: string; readonly run: RunShape }) {
  const client = useGateway();
  const { readOnly } = useAround();
  const [text, setText] = useState<string>();
  /** Outputs in JSON, as they were changed, by their calls. */
  const [outputs, setOutputs] = useState<ReadonlyMap<string, string>>(new Map());
  const [problem, setProblem] = useState('');
  const [where, setWhere] = useState('here');
  const [apps, setApps] = useState<readonly string[]>([]);
  const begin = () => {
    setText(run.asked);
    setOutputs(new Map());
    client.apps().then(
      (found) => setApps(found.apps.map(({ name }) => name)),
      () => {},
    );
  };
  const { askedId, parentRunId, stopReason } = run;
  if (readOnly || askedId === undefined || parentRunId !== undefined || stopReason === undefined) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!text?.trim()) return;
    setProblem('');
    const app = /^app (.*)/.exec(where)?.[1];
    const to: Where = app === undefined ? (where as 'here' | 'copy') : { app };
    const toolOutputs = givenIn(run, outputs);
    if (toolOutputs === null) return setProblem('An output is not valid JSON.');
    askAgain(client, sessionId, { messageId: askedId, text, where: to, toolOutputs }).then(
      (at) => {
        setText(undefined);
        if (at !== sessionId) location.hash = hrefOf({ view: 'timeline', sessionId: at });
      },
      (cause: Error) => setProblem(cause.message),
    );
  };
  return (
    <>
      {text === undefined ? (
        <button type="button" onClick={begin}>
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
          {[...run.calls].map(
            ([callId, { name, input, output }]) =>
              output !== undefined && (
                <details key={callId}>
                  <summary>
                    Output of {name} <code>{JSON.stringify(input)}</code>
                  </summary>
                  <textarea
                    aria-label={`The output of ${name}, in JSON`}
                    rows={4}
                    value={outputs.get(callId) ?? JSON.stringify(output, null, 2)}
                    onChange={({ target }) => setOutputs(new Map([...outputs, [callId, target.value]]))}
                  />
                </details>
              ),
          )}
          <div className="row end">
            <select
              aria-label="Where it runs"
              value={where}
              onChange={({ target }) => setWhere(target.value)}
            >
              <option value="here">here, as another version</option>
              <option value="copy">in a copy of this session</option>
              {apps.length > 1 &&
                apps.map((app) => (
                  <option key={app} value={`app ${app}`}>
                    in a session of {app}
                  </option>
                ))}
            </select>
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

/** The outputs that were changed; null if one of them is no JSON. */
function givenIn({ calls }: RunShape, outputs: ReadonlyMap<string, string>): readonly GivenOutput[] | null {
  try {
    return [...outputs].map(([callId, text]) => {
      const { name, input } = calls.get(callId)!;
      return { name, input, output: JSON.parse(text) };
    });
  } catch {
    return null;
  }
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
