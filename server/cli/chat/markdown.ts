import { type LinePart, styled } from '../terminal.js';

/** The marks within a line of Markdown: code, bold, struck out, italics, links. */
const MARKED =
  /(?<ticks>`+)(?<code>.+?)\k<ticks>|(?<stars>\*\*|__)(?<bold>\S(?:.*?\S)?)\k<stars>|~~(?<strikethrough>\S.*?)~~|(?<!\w)(?<star>[*_])(?<italic>\S(?:.*?\S)?)\k<star>(?!\w)|\[(?<label>[^\]]+)\]\((?<address>[^\s)]+)[^)]*\)/g;
const FORMATS = ['bold', 'italic', 'strikethrough'];

/** Whether a line begins or ends a block of code. */
export function isFence(line: string): boolean {
  return /^\s*(?:`{3}|~{3})/.test(line);
}

/** Sets a line of Markdown for a terminal. Tables, fences and what is in them stay as they are. */
export function setLine(line: string, isCode: boolean): readonly LinePart[] {
  if (isCode || isFence(line)) return [styled('dim', line)];
  if (/^\s*\|/.test(line)) return [line];
  const [start, hashes, indent, mark] = /^(?: {0,3}(#{1,6})\s+|(\s*)([-*+>])\s+)?/.exec(line)!;
  const parts = inline(line.slice(start.length), hashes ? ['bold'] : []);
  return mark === undefined ? parts : [`${indent}${mark === '>' ? '│' : '•'} `, ...parts];
}

function inline(text: string, formats: readonly string[]): readonly LinePart[] {
  let at = 0;
  const parts: LinePart[] = [];
  for (const { 0: all, index, groups = {} } of text.matchAll(MARKED)) {
    const { code, label, address } = groups;
    const format = FORMATS.find((name) => groups[name])!;
    parts.push(styled(formats, text.slice(at, index)));
    if (code) parts.push(styled([...formats, 'cyan'], code));
    else if (label) parts.push(styled(formats, label), styled('dim', ` (${address})`));
    else parts.push(...inline(groups[format]!, [...formats, format]));
    at = index + all.length;
  }
  return [...parts, styled(formats, text.slice(at))];
}
