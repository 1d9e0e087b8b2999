import { FILES_PATH, type UploadedFile } from '../../shared/files/contract.js';
import { openScope, within } from '../timing.js';
import { createCredentials } from '../transport/credentials.js';
import { foreign, misused } from '../transport/failure.js';
import { queryOf, request, urlOf } from '../transport/http.js';
import type { HttpOptions } from '../transport/http-options.js';

export type { UploadedFile } from '../../shared/files/contract.js';
export type { HttpOptions, Supplied } from '../transport/http-options.js';

/** The bytes of an upload. A stream is sent as it comes; browsers that cannot do that refuse it. */
export type FileSource = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | ReadableStream<Uint8Array>;

/** How a file is uploaded. */
export interface UploadOptions {
  /** @default that of a `File` */
  readonly name?: string | undefined;
  /** The media type, if the bytes do not tell it. @default that of a `Blob` */
  readonly mediaType?: string | undefined;
  /** Ends the upload with `ABORTED`. No part of it is kept. */
  readonly signal?: AbortSignal | undefined;
}

/** How a file is read. */
export interface DownloadOptions {
  /** The first and the last byte, from 0. @default all of it */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The files of a gateway, for its clients. All promises reject with `GatewayError`. */
export interface Files {
  /**
   * Uploads a file. Put the `fileId` and `mediaType` of the result into an `image`, `file` or `audio` block of a message. A failed upload
   * may be repeated: the same bytes of the same user, under the same name and type, are the same file.
   */
  upload(source: FileSource, options?: UploadOptions): Promise<UploadedFile>;
  /** Requests a file with the client's credentials. The response's body has the bytes. */
  download(fileId: string, options?: DownloadOptions): Promise<Response>;
  /** The URL of a file, for elements of pages that use cookies. With a token use `download`. */
  url(fileId: string): string;
}

/**
 * Reaches the files of a gateway. Takes the options of `createClient`. It is an entry of its own, so that pages without files do not load it.
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
        // A stream can be sent only once, so a refresh of credentials would have nothing left to send.
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
          // A type that hosts have no parser for, so that they do not read the body before the gateway does.
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
          // The body follows the response, so the signal must outlive the response.
          signal: openScope(signal).signal,
          ...(range && { headers: { range: `bytes=${range.start}-${range.end ?? ''}` } }),
        },
      ),
  };
}
