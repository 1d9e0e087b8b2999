import type { Person } from '../auth/types.js';
import { openedFile, type StoredFile } from '../files/stored-file.js';
import { type HostEnvironment, hostCaller } from '../host/open-session.js';

/** Opens a file for a plugin, in its caller's name. @throws GatewayError `FILE_NOT_FOUND` */
export async function openPluginFile(
  { host, inlineBytes }: { readonly host: HostEnvironment; readonly inlineBytes: number },
  fileId: string,
  { person, transport }: { readonly person: Person; readonly transport: string },
): Promise<StoredFile> {
  await host.ready();
  const { record, open } = await host.operations.file(fileId, hostCaller(person, { transport }));
  return openedFile(record, inlineBytes, async (range) => {
    const { bytes, release } = await open(range);
    return released(bytes, release);
  });
}

async function* released(bytes: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } finally {
    release();
  }
}
