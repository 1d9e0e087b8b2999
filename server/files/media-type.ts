import { isUtf8 } from 'node:buffer';

/** Bytes from the beginning of a file that tell what it is. */
export const HEAD_BYTES = 4100;

const TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/;
const TEXT = /^text\/|^application\/(?:json|xml|javascript|x-ndjson|yaml|toml)$|\+(?:json|xml)$/;

/**
 * What a file is, by its bytes. Of text, which has no marks, and of binary data that nobody knows, the uploader's word is taken as far as
 * it fits: nothing that is no image becomes one.
 *
 * @param head The first bytes of it, `HEAD_BYTES` where it has so many.
 * @param declared What the uploader says that it is.
 */
export async function mediaTypeOf(head: Uint8Array, declared: string | undefined): Promise<string> {
  // On first use: gateways without files do without it.
  const { fileTypeFromBuffer } = await import('file-type');
  const said = baseOf(declared)?.toLowerCase();
  const given = said !== undefined && TYPE.test(said) ? said : undefined;
  const found = baseOf((await fileTypeFromBuffer(head).catch(() => undefined))?.mime);
  // Many formats are XML or archives inside, and the uploader may know which; none of those is shown in a page.
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

/** Control characters that texts have: tab, line ends, form feed, escape. */
const IN_TEXTS = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

function isText(head: Uint8Array): boolean {
  if (head.some((byte) => byte < 0x20 && !IN_TEXTS.has(byte))) return false;
  if (isUtf8(head)) return true;
  // The head may end within a character.
  return [1, 2, 3].some((cut) => head.length >= HEAD_BYTES && isUtf8(head.subarray(0, -cut)));
}
