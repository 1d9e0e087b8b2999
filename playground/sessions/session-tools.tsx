import type { Client, SessionSummary } from 'agent-session-gateway/client';
import { useGateway } from 'agent-session-gateway/client/react';
import { type FormEvent, useState } from 'react';
import { exportMessages } from '../shell/gateway.js';
import { Recipe } from '../shell/recipe.js';
import { closeRecipe, deleteRecipe, exportRecipe, updateRecipe } from '../shell/recipes.js';
import { saveFile } from '../shell/save-file.js';

/** What cannot be undone. */
const ENDS = {
  Close: {
    warning: 'The conversation is over then, and so is its answer. The next message begins a new one.',
    end: (client: Client, sessionId: string) => client.close(sessionId),
    recipe: closeRecipe,
  },
  Delete: {
    warning: 'All that the gateway keeps of it is gone then: messages, events and title.',
    end: (client: Client, sessionId: string) => client.session(sessionId).delete(),
    recipe: deleteRecipe,
  },
} as const;

/** What can be done with the session that is shown, as one of the list. */
export function SessionTools({
  sessionId,
  session: { title = '', archived },
  onChanged,
}: {
  readonly sessionId: string;
  readonly session: SessionSummary;
  readonly onChanged: () => void;
}) {
  const client = useGateway();
  const [name, setName] = useState(title);
  const [asks, setAsks] = useState<keyof typeof ENDS>();
  const [problem, setProblem] = useState('');
  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    setAsks(undefined);
    done.then(onChanged, (error: Error) => setProblem(error.message));
  };
  const rename = (event: FormEvent) => {
    event.preventDefault();
    attempt(client.session(sessionId).update({ title: name.trim() || null }));
  };
  const save = async () =>
    saveFile(`${sessionId}.messages.ndjson`, await exportMessages(sessionId), 'application/x-ndjson');
  return (
    <details className="fold">
      <summary>Change {sessionId}</summary>
      <form className="new" onSubmit={rename}>
        <input
          aria-label={`Title of ${sessionId}`}
          placeholder="Title"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <button type="submit">Save</button>
      </form>
      <div className="row">
        <button
          type="button"
          onClick={() => attempt(client.session(sessionId).update({ archived: !archived }))}
        >
          {archived ? 'Take out of the archive' : 'Put into the archive'}
        </button>
        <Recipe {...updateRecipe(sessionId, { title: name.trim() || sessionId })} />
      </div>
      <div className="row">
        <button type="button" onClick={() => attempt(save())}>
          Export it
        </button>
        <Recipe {...exportRecipe(sessionId)} />
      </div>
      {asks ? (
        <section aria-label={`${asks} ${sessionId}`}>
          <p>{ENDS[asks].warning}</p>
          <div className="row">
            <button
              type="button"
              className="danger"
              onClick={() => attempt(ENDS[asks].end(client, sessionId))}
            >
              {asks} it
            </button>
            <button type="button" onClick={() => setAsks(undefined)}>
              Keep it
            </button>
            <Recipe {...ENDS[asks].recipe(sessionId)} />
          </div>
        </section>
      ) : (
        <div className="row">
          {(['Close', 'Delete'] as const).map((each) => (
            <button key={each} type="button" className="danger" onClick={() => setAsks(each)}>
              {each} it
            </button>
          ))}
        </div>
      )}
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </details>
  );
}
