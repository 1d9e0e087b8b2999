/** A comment of a source file, with its lines joined. */
export interface Comment {
  readonly line: number;
  readonly text: string;
}

/** The comments of TypeScript that stand on lines of their own. */
export function commentsOf(source: string): readonly Comment[] {
  const comments: Comment[] = [];
  const lines = source.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const line = i + 1;
    const text = lines[i]!.trim();
    const parts: string[] = [];
    if (text.startsWith('//')) {
      parts.push(text.slice(2).trim());
      while (lines[i + 1]?.trim().startsWith('//')) parts.push(lines[++i]!.trim().slice(2).trim());
    } else if (text.startsWith('/*')) {
      parts.push(text.replace(/^\/\*+/, ''));
      while (!lines[i]!.includes('*/')) parts.push(lines[++i]!.trim().replace(/^\*(?!\/) ?/, ''));
    } else continue;
    comments.push({
      line,
      text: parts
        .join(' ')
        .replace(/\*\/.*/, '')
        .trim(),
    });
  }
  return comments;
}

/** Sentences whose subject hides in a clause. A reader has to find the end of that first. */
const RIDDLE = /^(?:Who|Whoever|What|Whatever|Where|Of|As|By)\b/;
const TEXT_RIDDLE =
  /^(?!\s*(?:\/\/|\/?\*)).*?['"`](?:[^'"`]*[.:;!?] +)?(?:Who|Whoever|What|Whatever|Where|Of|As|By) [a-z`$]/;

/** The lines of TypeScript with a text whose sentence begins so. Texts go to callers, to the log and into documents. */
export function textRiddlesIn(source: string): readonly number[] {
  return source.split('\n').flatMap((line, at) => (TEXT_RIDDLE.test(line) ? [at + 1] : []));
}

/** The sentences of a comment that begin so, without code in backticks and tags. */
export function riddlesIn({ text }: Comment): readonly string[] {
  const sentences = text
    .replace(/`[^`]*`/g, 'code')
    .split(/(?<=[.:;!?])\s+(?=[A-Z])|\s@param \S+\s|\s@\w+\s/)
    .map((sentence) => sentence.trim());
  return sentences.filter((sentence) => RIDDLE.test(sentence));
}
