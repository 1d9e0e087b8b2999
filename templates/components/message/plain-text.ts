/** A text without the marks of Markdown, in one line, for lists and notices. Its lines may be joined already, as in previews. */
export const plainText = (text: string): string =>
  text
    .replace(/^ {0,3}(?:`{3,}|~{3,}).*$/gm, '')
    .replace(/^ {0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)/gm, '')
    .replace(/(\s)(?:#{1,6}\s+(?=\p{L})|[-*+]\s+\[[ xX]\]\s+)/gu, '$1')
    .replace(/^[ |:-]*-{3,}[ |:-]*$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)\s]*(?:\s"[^"]*")?\)/g, '$1')
    .replace(/(\*\*|__|~~|`+)(?=\S)([\s\S]*?\S)\1/g, '$2')
    .replace(/(^|[\s(])([*_])(?=\S)([^*_\n]*?\S)\2(?=$|[\s).,:;!?])/gm, '$1$3')
    .replace(/(?:\*\*|~~|`)/g, '')
    .replace(/\s*\|\s*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
