import type { Message } from 'agent-session-gateway/client';
import type { SessionView } from 'agent-session-gateway/client/react';
import { type FormEvent, useState } from 'react';
import { textOf } from '../../shared/messages.js';
import { Recipe } from '../shell/recipe.js';
import { editRecipe, regenerateRecipe } from '../shell/recipes.js';
import { hrefOf } from '../shell/route.js';

/** How the conversation can be changed. The same object for as long as the session is shown. */
export interface Changes extends Pick<SessionView, 'edit' | 'regenerate' | 'move' | 'fork'> {
  readonly sessionId: string;
}

/** What can be done with a message that is part of the conversation, and its other versions. */
export function MessageActions({
  message,
  changes,
}: {
  readonly message: Message;
  readonly changes: Changes;
}) {
  const { id, role } = message;
  const { sessionId, regenerate, move } = changes;
  const [edits, setEdits] = useState(false);
  const [problem, setProblem] = useState('');
  const attempt = (done: Promise<unknown>) => {
    setProblem('');
    done.catch((error: Error) => setProblem(error.message));
  };
  const fork = async () => {
    const to = `${sessionId.slice(0, 100)}-${Date.now().toString(36)}`;
    const made = await changes.fork(to, { at: id });
    location.hash = hrefOf({ view: 'chat', sessionId: made.sessionId });
  };
  if (edits) return <Edit message={message} edit={changes.edit} onDone={() => setEdits(false)} />;
  return (
    <div className="actions">
      <Versions message={message} onMove={(version) => attempt(move({ version }))} />
      {role === 'user' && (
        <button type="button" className="quiet" onClick={() => setEdits(true)}>
          Edit
        </button>
      )}
      {role === 'assistant' && (
        <button type="button" className="quiet" onClick={() => void regenerate(id)}>
          Answer again
        </button>
      )}
      <button type="button" className="quiet" onClick={() => attempt(fork())}>
        Fork
      </button>
      {role === 'user' && <Recipe {...editRecipe(sessionId, id, textOf(message))} />}
      {role === 'assistant' && <Recipe {...regenerateRecipe(sessionId, id)} />}
      {problem && (
        <span className="bad" role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}

/** Leads to the other versions of a message: the conversation goes on from each as it did last. */
function Versions({
  message: { id, versions = [id] },
  onMove,
}: {
  readonly message: Message;
  readonly onMove: (version: string) => void;
}) {
  if (versions.length < 2) return null;
  const at = versions.indexOf(id);
  const to = (label: string, sign: string, version: string | undefined) => (
    <button
      type="button"
      className="quiet"
      aria-label={label}
      disabled={version === undefined}
      onClick={() => version !== undefined && onMove(version)}
    >
      {sign}
    </button>
  );
  return (
    <span className="versions">
      {to('Version before', '‹', versions[at - 1])}
      {at + 1} of {versions.length}
      {to('Next version', '›', versions[at + 1])}
    </span>
  );
}

function Edit({
  message,
  edit,
  onDone,
}: {
  readonly message: Message;
  readonly edit: Changes['edit'];
  readonly onDone: () => void;
}) {
  const [text, setText] = useState(() => textOf(message));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    // Its files stay with it.
    const others = message.content.filter(({ type }) => type !== 'text');
    void edit(message.id, others.length > 0 ? [{ type: 'text', text }, ...others] : text);
    onDone();
  };
  return (
    <form className="edit" onSubmit={submit}>
      <textarea
        aria-label="The message, changed"
        rows={3}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
        autoFocus
        onChange={({ target }) => setText(target.value)}
      />
      <div className="row">
        <button type="submit" className="primary">
          Send in its place
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}
