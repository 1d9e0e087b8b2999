const DATA_URL = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i;

/** The type of the block that has media of this type. */
export function blockTypeOf(mediaType: string): 'image' | 'audio' | 'file' {
  const [kind] = mediaType.split('/');
  return kind === 'image' || kind === 'audio' ? kind : 'file';
}

/** The bytes of a data URL, or the address of other media. @param unknown The media type of an address */
export function mediaOf(
  url: string,
  unknown: string,
): { mediaType: string; url: string } | { mediaType: string; data: string } {
  const inline = DATA_URL.exec(url);
  return inline ? { mediaType: inline[1]!, data: url.slice(inline[0].length) } : { mediaType: unknown, url };
}
