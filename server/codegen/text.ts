const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** A text as a TypeScript string in single quotes. Characters that would hide or reorder code are escaped. */
export function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner.replace(UNSEEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`;
}

/** A text that is safe inside a comment: it neither ends the comment nor instructs the compiler. */
export function commentText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(UNSEEN, '')
    .replaceAll('*/', '* /')
    .replace(/@(?=ts-)/g, '@ ')
    .replace(/[ \t]+$/gm, '')
    .trim();
}

/** A doc comment of the paragraphs that are not empty, with a line break; an empty text if there are none. */
export function docComment(paragraphs: readonly (string | undefined)[], indent = ''): string {
  const said = paragraphs.map((paragraph) => commentText(paragraph ?? '')).filter((text) => text !== '');
  if (said.length === 0) return '';
  const lines = said.join('\n\n').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  const body = lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`);
  return `${indent}/**\n${body.join('')}${indent} */\n`;
}

/** A text as the name of a type: only letters and digits, with capitalized words. The converter keeps such names unchanged. */
export function typeName(text: string): string {
  const name = text
    .replace(/(?:^[^A-Za-z0-9]*|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_, first: string) => first.toUpperCase())
    .replace(/\d[a-z]/g, (pair) => pair.toUpperCase());
  return /^[A-Z]/.test(name) ? name : `T${name}`;
}

/** Gives out each name once. A name in use gets a number. */
export class Names {
  readonly #taken = new Set<string>();

  take(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#taken.has(name); count++) name = `${wanted}N${count}`;
    this.#taken.add(name);
    return name;
  }
}
