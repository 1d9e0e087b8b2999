import { useGateway } from 'agent-session-gateway/client/react';
import { type ChangeEvent, useRef, useState } from 'react';
import { Recipe } from '../shell/recipe.js';
import { importRecipe } from '../shell/recipes.js';

/** Begins a session with messages of a file, as the export of one has them. */
export function ImportSession({ onImported }: { readonly onImported: (sessionId: string) => void }) {
  const client = useGateway();
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  const take = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    target.value = '';
    if (!file) return;
    setProblem('');
    const sessionId = `${file.name.replace(/\..*$/, '').replace(/[^\w-]+/g, '-')}-${Date.now().toString(36)}`;
    try {
      await client.session(sessionId).import(messagesOf(await file.text()));
      onImported(sessionId);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <div className="import">
      <div className="row">
        <input ref={input} type="file" hidden accept=".ndjson,.jsonl,.json" onChange={take} />
        <button type="button" onClick={() => input.current?.click()}>
          Import
        </button>
        <Recipe {...importRecipe('imported')} />
      </div>
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** The messages of a file, one a line. @throws Error naming the line that is no JSON */
function messagesOf(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Error(`Message ${at + 1} of the file is not JSON: it has to be a message a line.`);
      }
    });
}
