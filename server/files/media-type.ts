import { isUtf8 } from 'node:buffer';

/** Number of first bytes that suffice to detect a type. */
export const HEAD_BYTES = 4100;

const TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/;
const TEXT = /^text\/|^application\/(?:json|xml|javascript|x-ndjson|yaml|toml)$|\+(?:json|xml)$/;

/**
 * The media type of a file, detected from its bytes. For text and unknown binary data, a compatible declared type is used. So only an image
 * passes for an image.
 *
 * @param head The first `HEAD_BYTES` bytes of the file, or all of a shorter one.
 * @param declared Media type that the uploader declares.
 */
export async function mediaTypeOf(head: Uint8Array, declared: string | undefined): Promise<string> {
  // Load on first use: gateways without files do not need it.
  const { fileTypeFromBuffer } = await import('file-type');
  const said = baseOf(declared)?.toLowerCase();
  const given = said !== undefined && TYPE.test(said) ? said : undefined;
  const found = baseOf((await fileTypeFromBuffer(head).catch(() => undefined))?.mime);
  // For XML, accept a declared type: many formats are XML, and browsers show none of them in a page.
  if (found !== undefined && found !== 'application/xml') return found;
  if (isText(head)) return given !== undefined && TEXT.test(given) ? given : (found ?? 'text/plain');
  return given !== undefined && /^application\//.test(given) && !TEXT.test(given)
    ? given
    : 'application/octet-stream';
}

/** A media type without its parameters. */
function baseOf(type: string | undefined): string | undefined {
  return type?.replace(/;.*$/s, '').trim();
}

/** Control characters that occur in texts: tab, line ends, form feed, escape. */
const IN_TEXTS = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

function isText(head: Uint8Array): boolean {
  if (head.some((byte) => byte < 0x20 && !IN_TEXTS.has(byte))) return false;
  if (isUtf8(head)) return true;
  // The head may end within a character.
  return [1, 2, 3].some((cut) => head.length >= HEAD_BYTES && isUtf8(head.subarray(0, -cut)));
}
