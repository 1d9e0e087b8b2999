/** A final text frame, unmasked as servers send it (RFC 6455, section 5.2). */
const TEXT = 0x81;

/** Writes texts as WebSocket messages, each in one frame, all in one piece of bytes. */
export function encodeTextFrames(texts: readonly string[]): Buffer {
  let size = 0;
  const lengths = texts.map((text) => {
    const length = Buffer.byteLength(text);
    size += headerSize(length) + length;
    return length;
  });
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [i, text] of texts.entries()) {
    const length = lengths[i]!;
    at = writeHeader(bytes, at, length);
    at += bytes.write(text, at, length);
  }
  return bytes;
}

function headerSize(length: number): number {
  if (length < 126) return 2;
  return length < 65_536 ? 4 : 10;
}

function writeHeader(bytes: Buffer, at: number, length: number): number {
  bytes[at] = TEXT;
  if (length < 126) {
    bytes[at + 1] = length;
    return at + 2;
  }
  if (length < 65_536) {
    bytes[at + 1] = 126;
    return bytes.writeUInt16BE(length, at + 2);
  }
  bytes[at + 1] = 127;
  bytes.writeUInt32BE(Math.floor(length / 2 ** 32), at + 2);
  return bytes.writeUInt32BE(length % 2 ** 32, at + 6);
}
