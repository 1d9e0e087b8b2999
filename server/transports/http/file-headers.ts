import { GatewayError } from '../../../shared/errors.js';
import type { ByteRange, FileRecord } from '../../stores/files/file-store.js';

/** Media types that browsers show themselves without running anything. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|apng)|(?:audio|video)\/[a-z0-9.-]+|text\/plain)$/;
/** Media types that are served under their own name, to be saved: no browser treats them as a page, a script or a style. */
const SAVED =
  /^(?:application\/(?:pdf|json|zip|gzip|msword|rtf|epub\+zip|vnd\.[a-z0-9.-]+)|text\/(?:csv|markdown)|image\/(?:tiff|heic|heif))$/;

/**
 * The headers that a file is served with. Every other type (HTML, SVG, scripts, styles) is served as plain bytes to be saved. Nothing in
 * them runs, even if a page of the same site embeds the file or a user opens its address.
 */
export function fileHeaders({ mediaType, name, sha256 }: FileRecord): Readonly<Record<string, string>> {
  const shown = SHOWN.test(mediaType);
  const type = shown || SAVED.test(mediaType) ? mediaType : 'application/octet-stream';
  return {
    'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'Content-Disposition': disposition(shown ? 'inline' : 'attachment', name),
    'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    // Browsers may keep the file, but must ask each time: access to it can change.
    'Cache-Control': 'private, no-cache',
    ETag: `"${sha256}"`,
    'Accept-Ranges': 'bytes',
  };
}

/** The name in UTF-8, and an ASCII likeness for clients that do not read it (RFC 6266). */
function disposition(type: 'inline' | 'attachment', name: string | undefined): string {
  if (name === undefined) return type;
  const plain = name.replace(/[^ !#$&+\-.0-9A-Z^_a-z]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `${type}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** Whether the client has the file already (RFC 9110, section 13.1.2). */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()));
}

/**
 * The requested part of a file (RFC 9110, section 14.2). Null stands for the whole file: if no part is requested, if the file has changed
 * since, and for several parts at once, which a server need not serve.
 *
 * @throws GatewayError `RANGE_NOT_SATISFIABLE` for a part outside the file
 */
export function rangeOf(
  { range, ifRange }: { readonly range: string | undefined; readonly ifRange: string | undefined },
  { size, etag }: { readonly size: number; readonly etag: string },
): ByteRange | null {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return null;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range.trim());
  if (!match || (match[1] === '' && match[2] === '')) return null;
  const [, from, to] = match as unknown as [string, string, string];
  if (from === '') {
    const last = Number(to);
    if (last === 0 || size === 0) throw unsatisfiable(size);
    return { start: Math.max(0, size - last), end: size - 1 };
  }
  const start = Number(from);
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < start) return null;
  if (start >= size) throw unsatisfiable(size);
  return { start, end };
}

function unsatisfiable(size: number): GatewayError {
  return new GatewayError({
    code: 'RANGE_NOT_SATISFIABLE',
    message: `The file has ${size} bytes`,
    details: { size },
  });
}
