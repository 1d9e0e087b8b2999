import { Lexer, type Token, type TokenizerThis, type Tokens } from 'marked';

/** A formula, or a mark of a footnote, or its text. */
export interface OwnToken extends Tokens.Generic {
  readonly type: 'formula' | 'mark' | 'footnote';
  readonly text: string;
  readonly isBlock?: boolean;
  readonly label?: string;
}

type Own = OwnToken | undefined;

function formulaBlock(this: TokenizerThis, source: string): Own {
  const found = /^(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n|$)/.exec(source);
  if (!found) return undefined;
  return { type: 'formula', raw: found[0], text: (found[1] ?? found[2])!.trim(), isBlock: true };
}

/** Sums of money are no formulas: a dollar sign begins one only before what is no space, and ends it only where no digit follows. */
function formula(this: TokenizerThis, source: string): Own {
  const found = /^(?:\\\((.+?)\\\)|\$(?![\s$])((?:\\.|[^$\\\n])*?[^\s\\$])\$(?![\d$]))/.exec(source);
  return found
    ? { type: 'formula', raw: found[0], text: (found[1] ?? found[2])!, isBlock: false }
    : undefined;
}

function footnote(this: TokenizerThis, source: string): Own {
  const found = /^\[\^([\w-]{1,40})\]:[ \t]*(.+(?:\n {2,}.+)*)(?:\n+|$)/.exec(source);
  if (!found) return undefined;
  const [raw, label, text] = found as unknown as [string, string, string];
  return { type: 'footnote', raw, label, text, tokens: this.lexer.inlineTokens(text) };
}

function mark(this: TokenizerThis, source: string): Own {
  const found = /^\[\^([\w-]{1,40})\](?!:)/.exec(source);
  return found ? { type: 'mark', raw: found[0], text: found[1]! } : undefined;
}

/** What is read besides Markdown: footnotes, and formulas where the page sets them. */
export const syntaxOf = (hasFormulas: boolean) => ({
  block: hasFormulas ? [formulaBlock, footnote] : [footnote],
  inline: hasFormulas ? [formula, mark] : [mark],
  startBlock: [(source: string) => indexIn(source, /^(?:\$\$|\\\[|\[\^)/m)],
  startInline: [(source: string) => indexIn(source, /[$\\]|\[\^/)],
  renderers: {},
  childTokens: {},
});

/** The place of what is looked for behind the first letter. */
const indexIn = (source: string, wanted: RegExp): number | undefined => {
  const at = source.search(wanted);
  return at < 0 ? undefined : at;
};

/** Whether a block may change what others are: an address that links elsewhere name, also within a list, or a formula that is not closed yet. */
const isFar = ({ type, raw }: Token) =>
  type !== 'code' && (raw.includes(']:') || (type !== 'formula' && /^(?:\$\$|\\\[)/m.test(raw)));

/**
 * The blocks of a text. Those of its beginning are kept but for the last ones, which may go on: a long answer is not read anew for each of its pieces.
 *
 * @param before The blocks of its beginning, as it was before it grew
 */
export function blocksOf(
  text: string,
  extensions: ReturnType<typeof syntaxOf>,
  before: readonly Token[] = [],
): readonly Token[] {
  const lex = (source: string): readonly Token[] => Lexer.lex(source, { gfm: true, extensions });
  const last = before.findLastIndex(({ type }) => type !== 'space');
  // Nothing that is added makes a paragraph of words part of what stands before it and an empty line.
  const isOfWords =
    before[last]?.type === 'paragraph' &&
    before[last - 1]?.type === 'space' &&
    /^\p{L}/u.test(before[last].raw);
  const kept = before.slice(0, isOfWords ? last : -3);
  const had = kept.map(({ raw }) => raw).join('');
  if (had === '' || !text.startsWith(had) || kept.some(isFar)) return lex(text);
  const rest = lex(text.slice(had.length));
  return rest.some(({ type, raw }) => type !== 'code' && raw.includes(']:')) ? lex(text) : [...kept, ...rest];
}
