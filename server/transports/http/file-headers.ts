import { GatewayError } from '../../../shared/errors.js';
import type { ByteRange, FileRecord } from '../../stores/files/file-store.js';

/** What browsers show by themselves, and run nothing of. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|apng)|(?:audio|video)\/[a-z0-9.-]+|text\/plain)$/;
/** What is handed over as what it is, to be saved: no browser makes a page, a script or a style of it. */
const SAVED =
  /^(?:application\/(?:pdf|json|zip|gzip|msword|rtf|epub\+zip|vnd\.[a-z0-9.-]+)|text\/(?:csv|markdown)|image\/(?:tiff|heic|heif))$/;

/**
 * The headers that a file is served with. Whatever else its bytes are (HTML, SVG, scripts, styles) is served as bytes to be saved, and
 * nothing of it runs, also where a page of the same site embeds it or somebody opens its address.
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
    // Kept, but asked for each time: who may see it can change.
    'Cache-Control': 'private, no-cache',
    ETag: `"${sha256}"`,
    'Accept-Ranges': 'bytes',
  };
}

/** RFC 6266: the name in UTF-8, and something like it for those who do not read that. */
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
 * The part of a file that is asked for (RFC 9110, section 14.2); null for all of it: where none is, where the file has changed since, and
 * for several parts at once, which a server need not serve.
 *
 * @throws GatewayError `RANGE_NOT_SATISFIABLE` for a part that is not there
 */
export function rangeOf(
  { range, ifRange }: { readonly range: string | undefined; readonly ifRange: string | undefined },
  { size, etag }: { readonly size: number; readonly etag: string },
): ByteRange | null {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return null;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim());
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
