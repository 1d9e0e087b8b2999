import { CopyButton } from '../ui/copy.js';

/** A block of code, with its language and a button that copies it. */
export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  return (
    <figure className="code-block">
      <figcaption>
        <span>{language || 'text'}</span>
        <CopyButton label="Copy code" text={() => text} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
