import { useGateway } from 'agent-session-gateway/client/react';
import { FileUp } from 'lucide-react';
import { useRef, useState } from 'react';
import { IconButton } from '../../templates/components/ui/icon-button.js';
import { Code } from '../shell/code.js';
import { importFile } from './import-file.js';

/** A button that begins a session with the messages of an exported file. */
export function Import({ onImported }: { readonly onImported: (sessionId: string) => void }) {
  const client = useGateway();
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  const take = (file: File | undefined) => {
    if (!file) return;
    setProblem('');
    importFile(client, file).then(onImported, (error: Error) => setProblem(error.message));
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".ndjson,.jsonl,.json"
        onChange={({ target }) => {
          take(target.files?.[0]);
          // Reset, so that the same file can be chosen again.
          target.value = '';
        }}
      />
      <IconButton label="Import" icon={FileUp} onClick={() => input.current?.click()} />
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      <Code what="import" of={({ importRecipe }) => importRecipe('imported')} />
    </>
  );
}
