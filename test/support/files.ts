import type { UploadedFile } from '../../shared/files/contract.js';

/** Uploads over HTTP as a user of `byName`; the parsed answer. */
export async function uploadTo(
  url: string,
  body: BodyInit,
  { user = 'alice', query = '', headers = {} }: { user?: string; query?: string; headers?: HeadersInit } = {},
): Promise<{ status: number; headers: Headers; body: any }> {
  const response = await fetch(`${url}/files${query}`, {
    method: 'POST',
    body,
    headers: {
      authorization: `Bearer ${user}`,
      'content-type': 'application/octet-stream',
      ...(headers as Record<string, string>),
    },
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  } as RequestInit);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The same, of what is taken. */
export async function uploaded(
  url: string,
  body: BodyInit,
  options: Parameters<typeof uploadTo>[2] = {},
): Promise<UploadedFile> {
  const answer = await uploadTo(url, body, options);
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** The smallest PNG there is. */
export const PNG = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);
