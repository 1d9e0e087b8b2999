import { useState } from 'react';
import { PlainCall } from './method-call.js';

/** Calls a method by any path, because the catalogue lists only methods that the caller may call. */
export function OtherMethod() {
  const [path, setPath] = useState('');
  return (
    <details className="card method">
      <summary>Another method</summary>
      <div className="field">
        <label htmlFor="other-method">Path</label>
        <input
          id="other-method"
          placeholder="tasks:list"
          spellCheck={false}
          value={path}
          onChange={({ target }) => setPath(target.value.trim())}
        />
      </div>
      <PlainCall key={path} method={{ path, stream: false, params: {} }} />
    </details>
  );
}
