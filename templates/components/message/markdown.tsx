import type { Token, Tokens } from 'marked';
import { memo, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { useAround } from '../ui/around.js';
import { Boundary } from '../ui/boundary.js';
import { CodeBlock } from './code-block.js';
import { blocksOf, syntaxOf } from './syntax.js';

const PLAIN = syntaxOf(false);
const WITH_FORMULAS = syntaxOf(true);

/** Markdown as elements of the page. Text never becomes HTML: tags are shown as text, images as links, and links lead only to the web and mail. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const { maths } = useAround();
  const lexed = useRef<readonly Token[]>([]);
  const blocks = blocksOf(text, maths ? WITH_FORMULAS : PLAIN, lexed.current);
  useEffect(() => {
    lexed.current = blocks;
  });
  return (
    <div className="markdown">
      {blocks.map((block, at) => (
        // Text grows at its end, so a block keeps its place, and an unchanged block is not rendered again.
        <Block key={at} raw={block.raw} token={block} />
      ))}
    </div>
  );
});

const Block = memo(
  ({ token }: { readonly token: Token; readonly raw: string }) => <>{block(token)}</>,
  (a, b) => a.raw === b.raw && a.token.type === b.token.type,
);

function all(tokens: readonly Token[] | undefined, render: (token: Token) => ReactNode): ReactNode {
  return tokens?.map((token, at) => <Fragment key={at} node={render(token)} />);
}

function Fragment({ node }: { readonly node: ReactNode }) {
  return <>{node}</>;
}

function block(token: Token): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      // The text of one that is being written comes later.
      if (!token.text) return null;
      // Rank headings below those of the page itself.
      const Heading = `h${Math.min(6, token.depth + 2)}` as 'h3';
      return <Heading dir="auto">{all(token.tokens, inline)}</Heading>;
    }
    case 'code':
      return (
        <CodeBlock
          text={token.text}
          language={/^\S*/.exec(token.lang ?? '')![0].toLowerCase()}
          isWhole={/\n *(?:`{3,}|~{3,}) *\n*$/.test(token.raw)}
        />
      );
    case 'blockquote':
      return <blockquote dir="auto">{all(token.tokens, block)}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list':
      return list(token as Tokens.List);
    case 'table':
      return table(token as Tokens.Table);
    case 'paragraph':
      return <p dir="auto">{all(token.tokens, inline)}</p>;
    case 'footnote':
      return (
        <p className="footnote" dir="auto">
          <sup>{token.label}</sup> {all(token.tokens, inline)}
        </p>
      );
    case 'formula':
      return <Formula text={token.text} raw={token.raw} isBlock />;
    case 'html':
      return <p>{token.raw}</p>;
    default:
      return inline(token);
  }
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const rendered = items.map((item, at) => (
    <li key={at}>
      {item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label="task" />}
      {all(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        block,
      )}
    </li>
  ));
  return ordered ? (
    <ol dir="auto" start={Number(start) || 1}>
      {rendered}
    </ol>
  ) : (
    <ul dir="auto">{rendered}</ul>
  );
}

function table({ header, rows }: Tokens.Table): ReactNode {
  return (
    <div className="scroll" tabIndex={0}>
      <table dir="auto">
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at} style={alignOf(cell)}>
                {all(cell.tokens, inline)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, y) => (
            <tr key={y}>
              {row.map((cell, x) => (
                <td key={x} style={alignOf(cell)}>
                  {all(cell.tokens, inline)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const alignOf = ({ align }: Tokens.TableCell) => (align ? { textAlign: align } : undefined);

function inline(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{all(token.tokens, inline)}</strong>;
    case 'em':
      return <em>{all(token.tokens, inline)}</em>;
    case 'del':
      return <del>{all(token.tokens, inline)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'mark':
      return <sup className="mark">{token.text}</sup>;
    case 'formula':
      return <Formula text={token.text} raw={token.raw} />;
    case 'br':
      return <br />;
    case 'link':
      return <Link href={token.href}>{all(token.tokens, inline)}</Link>;
    case 'image':
      return <Link href={token.href}>Image: {decode(token.text || token.href)}</Link>;
    case 'escape':
      // Brackets of a formula, which is shown as it is written. Nobody needs to escape them for Markdown.
      return /^[()]$/.test(token.text) ? token.raw : token.text;
    case 'text':
      return 'tokens' in token && token.tokens ? all(token.tokens, inline) : decode(token.raw);
    default:
      return token.raw;
  }
}

/** A formula, as the page sets it; as it is written while that is loaded, and where it fails. */
function Formula({
  text,
  raw,
  isBlock = false,
}: {
  readonly text: string;
  readonly raw: string;
  readonly isBlock?: boolean;
}) {
  const { maths } = useAround();
  const plain = isBlock ? <p>{raw}</p> : raw;
  return (
    <Boundary subject={text} fallback={() => plain}>
      <Suspense fallback={plain}>{maths?.(text, isBlock)}</Suspense>
    </Boundary>
  );
}

function Link({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  // A relative link would lead into the gateway.
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

let box: HTMLTextAreaElement | undefined;

/** Decodes character references. A text area never interprets its content as elements. */
function decode(text: string): string {
  // A server that renders the page has no elements, and no messages either.
  if (typeof document === 'undefined') return text;
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, (reference) => {
    box ??= document.createElement('textarea');
    box.innerHTML = reference;
    return box.value;
  });
}
