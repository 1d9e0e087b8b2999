import { useId, useState } from 'react';
import type { RecipeText } from './recipes.js';

/** Shows how the same is done from a terminal and from a program. */
export function Recipe({ curl, sdk }: RecipeText) {
  const id = useId();
  return (
    <>
      <button type="button" className="quiet" popoverTarget={id}>
        Code
      </button>
      <div id={id} popover="auto" className="recipe" role="dialog" aria-label="The same by code">
        <h3>curl</h3>
        <Line text={curl} name="curl" />
        <h3>SDK</h3>
        <Line text={sdk} name="SDK" />
        <p className="muted">
          <code>$TOKEN</code> is your token; <code>client</code> is <code>createClient(…)</code> of{' '}
          <code>agent-session-gateway/client</code>.
        </p>
      </div>
    </>
  );
}

function Line({ text, name }: { readonly text: string; readonly name: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div className="line">
      <figure aria-label={name}>
        <pre tabIndex={0}>{text}</pre>
      </figure>
      {navigator.clipboard && (
        <button
          type="button"
          aria-label={`Copy the ${name} lines`}
          onClick={() =>
            void navigator.clipboard.writeText(text).then(
              () => setCopied(true),
              () => {},
            )
          }
        >
          {copied ? 'Copied' : 'Copy'}
        </button>
      )}
    </div>
  );
}
