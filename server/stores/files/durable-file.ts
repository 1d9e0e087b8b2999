import { open } from 'node:fs/promises';

/** Writes a new file and waits until it is on the disk. */
export async function durableFile(path: string, content: string | AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    if (typeof content === 'string') await handle.writeFile(content);
    else for await (const chunk of content) await writeWhole(handle, chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeWhole(handle: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.byteLength; ) at += (await handle.write(chunk, at)).bytesWritten;
}

/** Waits until a written file is on the disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Waits until the names in a directory are on the disk. Windows cannot open directories and needs no wait. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The result of a file operation; null if the file is missing. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
