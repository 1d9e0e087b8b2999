import { isGatewayError } from '../../../shared/errors.js';
import type { PluginContext } from '../plugin.js';
import type { McpCaller } from './caller.js';
import type { McpSdk, ReadResourceResult } from './sdk.js';

const FILES = 'gateway:///files/';

/** The URI of an uploaded file that a result names. */
export function fileUri(fileId: string): string {
  return `${FILES}${encodeURIComponent(fileId)}`;
}

/** The template for URIs of files. Clients read files by the URIs of results; files are never listed. */
export const FILE_TEMPLATE = {
  name: 'file',
  uriTemplate: `${FILES}{fileId}`,
  description: 'A file that you uploaded to the gateway',
};

/** Reads an uploaded file as a resource. @throws ProtocolError if there is none, or it is not the caller's */
export async function readFile(
  uri: string,
  {
    sdk,
    context,
    caller,
  }: { readonly sdk: McpSdk; readonly context: PluginContext; readonly caller: McpCaller },
): Promise<ReadResourceResult> {
  const fileId = uri.startsWith(FILES) ? uri.slice(FILES.length) : null;
  try {
    if (fileId === null) throw notFound(sdk, uri);
    const { mediaType: mimeType, bytes } = await context.file(decodeURIComponent(fileId), caller.person);
    const { buffer, byteOffset, byteLength } = await bytes();
    return {
      contents: [{ uri, mimeType, blob: Buffer.from(buffer, byteOffset, byteLength).toString('base64') }],
    };
  } catch (error) {
    const isMissing = error instanceof URIError || (isGatewayError(error) && error.code === 'FILE_NOT_FOUND');
    throw isMissing ? notFound(sdk, uri) : error;
  }
}

function notFound(sdk: McpSdk, uri: string): Error {
  const { ResourceNotFoundError } = sdk.server;
  return new ResourceNotFoundError(uri);
}
