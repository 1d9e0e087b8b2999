const TEXT = { type: 'string' };
const BYTES = { 'application/octet-stream': { schema: { description: 'The bytes of the file' } } };

const UPLOADED = {
  type: 'object',
  required: ['fileId', 'url', 'mediaType', 'size', 'sha256'],
  properties: {
    fileId: { ...TEXT, description: 'For the blocks of messages' },
    url: { ...TEXT, description: 'The address of the file, relative to this one' },
    name: TEXT,
    mediaType: { ...TEXT, description: 'The media type that its bytes have' },
    size: { type: 'integer', minimum: 0 },
    sha256: { ...TEXT, pattern: '^[0-9a-f]{64}$' },
  },
};

/** The body of `POST /files`: any bytes. */
export const uploadBody: object = {
  required: true,
  content: {
    'application/octet-stream': {
      schema: { description: 'The file itself. Any other type but `multipart/*` does as well' },
    },
  },
};

/** The response of `POST /files`. */
export const uploadResponse: object = {
  201: {
    description: 'The file is kept',
    headers: { Location: { description: 'The same as `url`', schema: TEXT } },
    content: { 'application/json': { schema: UPLOADED } },
  },
};

const FILE_HEADERS = {
  ETag: { description: 'The digest of the bytes', schema: TEXT },
  'Content-Disposition': { description: 'The name, and whether a browser shows the file', schema: TEXT },
};

/** The responses of `GET /files/{fileId}`. */
export const fileResponses: object = {
  200: { description: 'The file', headers: FILE_HEADERS, content: BYTES },
  206: {
    description: 'The part of it that `Range` names',
    headers: { ...FILE_HEADERS, 'Content-Range': { description: 'Which part', schema: TEXT } },
    content: BYTES,
  },
  304: { description: 'The client has it already' },
};

/** The parameters of both routes. */
export const FILE_PARAMETERS: Readonly<Record<'upload' | 'file', readonly object[]>> = {
  upload: [
    { name: 'name', in: 'query', description: 'The name of the file', schema: TEXT },
    {
      name: 'mediaType',
      in: 'query',
      description: 'The media type of text and other bytes that do not tell it; wins over `Content-Type`',
      schema: TEXT,
    },
  ],
  file: [
    { name: 'fileId', in: 'path', required: true, description: 'The id of an uploaded file', schema: TEXT },
    {
      name: 'sessionId',
      in: 'query',
      description: 'A session that names it, where the file is of somebody who shares that',
      schema: TEXT,
    },
    { name: 'Range', in: 'header', description: 'One part of the bytes', schema: TEXT },
    { name: 'If-Range', in: 'header', description: 'The `ETag` of the part before', schema: TEXT },
    { name: 'If-None-Match', in: 'header', description: 'The `ETag` of what the client has', schema: TEXT },
  ],
};
