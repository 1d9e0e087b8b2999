import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { CopyButton } from '../ui/copy-button.js';
import type { highlight, Piece } from './highlight.js';

/** Longer code stays without colours, so that the page never waits for them. */
const MOST_COLOURED = 50_000;

let colouring: typeof highlight | undefined;

/** The colours are loaded when the first block of code is whole. Without them it is shown in one colour. */
function usePieces(text: string, language: string, isWhole: boolean): readonly Piece[] {
  const [colour, setColour] = useState(() => colouring);
  const wants = isWhole && language !== '' && text.length <= MOST_COLOURED;
  useEffect(() => {
    if (!wants || colour) return;
    let isLeft = false;
    import('./highlight.js').then(
      ({ highlight }) => {
        colouring = highlight;
        if (!isLeft) setColour(() => highlight);
      },
      () => {},
    );
    return () => {
      isLeft = true;
    };
  }, [wants, colour]);
  return useMemo(() => (wants && colour?.(text, language)) || [text], [wants, colour, text, language]);
}

/** A block of code, with its language and a button that copies it. */
export function CodeBlock({
  text,
  language,
  isWhole,
}: {
  readonly text: string;
  readonly language: string;
  /** Whether its end is written. */
  readonly isWhole: boolean;
}) {
  const pieces = usePieces(text, language, isWhole);
  return (
    <figure className="code-block">
      <figcaption>
        <span>{language || 'text'}</span>
        <CopyButton label="Copy code" text={() => text} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{pieces.map(shown)}</code>
      </pre>
    </figure>
  );
}

function shown(piece: Piece, at: number): ReactNode {
  if (typeof piece === 'string') return piece;
  return (
    <span key={at} className={piece.role}>
      {piece.pieces.map(shown)}
    </span>
  );
}
