import { FILES_PATH } from '../../shared/calls.js';
import type { UploadedFile } from '../../shared/operation-types.js';
import { openScope, within } from '../timing.js';
import { createCredentials } from '../transport/credentials.js';
import { foreign, misused } from '../transport/failure.js';
import { queryOf, request, urlOf } from '../transport/http.js';
import type { HttpOptions } from '../transport/http-options.js';

export type { UploadedFile } from '../../shared/operation-types.js';
export type { HttpOptions, Supplied } from '../transport/http-options.js';

/** What can be uploaded. A stream is sent as it comes; browsers that cannot do that refuse it. */
export type FileSource = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | ReadableStream<Uint8Array>;

/** How a file is uploaded. */
export interface UploadOptions {
  /** @default that of a `File` */
  readonly name?: string | undefined;
  /** What it is, where its bytes do not say so. @default that of a `Blob` */
  readonly mediaType?: string | undefined;
  /** Ends the upload with `ABORTED`; nothing of it is kept. */
  readonly signal?: AbortSignal | undefined;
}

/** How a file is read. */
export interface DownloadOptions {
  /** The first and the last byte, from 0. @default all of it */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The files of a gateway, for its clients. Everything rejects with `GatewayError`. */
export interface Files {
  /**
   * Uploads a file. The answer's `fileId` and `mediaType` go into an `image`, `file` or `audio` block of a message. An upload that
   * failed can be made again: the same bytes of the same user, under the same name and type, are the same file.
   */
  upload(source: FileSource, options?: UploadOptions): Promise<UploadedFile>;
  /** Asks for a file, with the client's credentials. The bytes are those of the response's body. */
  download(fileId: string, options?: DownloadOptions): Promise<Response>;
  /** Where a file is, for elements of pages whose credentials are cookies; with a token use `download`. */
  url(fileId: string): string;
}

/**
 * Reaches the files of a gateway. Takes the options of `createClient`, and is apart from it, so that pages without files do not load it.
 *
 * @throws GatewayError `INVALID_REQUEST` without `baseUrl`
 *
 * @example
 * ```ts
 * const files = createFiles({ baseUrl: '/agent', token: () => auth.token() });
 * const { fileId, mediaType } = await files.upload(new Blob(['a,b\n1,2\n'], { type: 'text/csv' }), { name: 'table.csv' });
 * client.send('main', [{ type: 'text', text: 'What is in it?' }, { type: 'file', fileId, mediaType }]);
 * ```
 */
export function createFiles(options: HttpOptions): Files {
  const { baseUrl, extraRoutes = '', fetch = globalThis.fetch } = options;
  if (baseUrl === undefined) throw misused('baseUrl is missing');
  const credentials = createCredentials(options);
  const pathOf = (fileId: string): string => `${extraRoutes}${FILES_PATH}/${encodeURIComponent(fileId)}`;
  return {
    url: (fileId) => urlOf(baseUrl, pathOf(fileId)),
    async upload(source, { name, mediaType, signal } = {}) {
      const { name: ownName, type: ownType } = source as Partial<File>;
      const query = queryOf([
        ['name', name ?? ownName],
        ['mediaType', mediaType ?? (ownType || undefined)],
      ]);
      const isStream = source instanceof ReadableStream;
      const sending = {
        // Sent once: who refreshes credentials has nothing left to send with them.
        credentials: isStream ? { ...credentials, isRefreshable: false } : credentials,
        options: {
          ...options,
          fetch: (url: URL | RequestInfo, init?: RequestInit) =>
            fetch(url, { ...init, ...(isStream && { duplex: 'half' }) } as RequestInit),
        },
      };
      const scope = openScope(signal);
      const file = await within(scope, async () => {
        const response = await request(sending, {
          path: `${extraRoutes}${FILES_PATH}${query && `?${query}`}`,
          body: source,
          // What hosts have parsers for, they read before the gateway does.
          headers: { 'content-type': 'application/octet-stream' },
          signal: scope.signal,
        });
        try {
          return (await response.json()) as UploadedFile;
        } catch (cause) {
          throw foreign(response.url, 'not with JSON', cause);
        }
      });
      return { ...file, url: urlOf(baseUrl, pathOf(file.fileId)) };
    },
    download: (fileId, { range, signal } = {}) =>
      request(
        { options, credentials },
        {
          path: pathOf(fileId),
          // The body comes after the response, and ends with the signal too.
          signal: openScope(signal).signal,
          ...(range && { headers: { range: `bytes=${range.start}-${range.end ?? ''}` } }),
        },
      ),
  };
}
