import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { GatewayError } from '../../../shared/errors.js';
import { packageFile } from '../../runtime/package-files.js';

/** The folder of the page's files whose names change with their content. */
export const ASSETS = '_playground';

/** The path beside the page that ends the server's process. */
export const KILL = '_kill';

/** A file of the page, as it is served. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  /** Whether its name changes with its content. */
  readonly hashed: boolean;
}

/** The plugin's settings for the page. */
export interface PageSettings {
  readonly readOnly: boolean;
  /** Whether the page may end the server's process. */
  readonly canKill: boolean;
  /** Whether the page may have a session run against the app as it is now. */
  readonly canReplay: boolean;
  /** Whether the page may ask what ran in a run. */
  readonly hasTraces: boolean;
  /** Prefix of some of the gateway's routes. */
  readonly extraRoutes: string;
  /** The number of folders between the gateway's mount and the page. */
  readonly depth: number;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  webmanifest: 'application/manifest+json',
};

/** Reads the built page. @throws GatewayError `ROUTE_NOT_FOUND` if it was not built */
export function readPage(): ReadonlyMap<string, PageFile> {
  const folder = packageFile('dist/playground');
  if (!existsSync(join(folder, ASSETS))) {
    const message = 'The playground is not built: run npm run build:playground';
    throw new GatewayError({ code: 'ROUTE_NOT_FOUND', message });
  }
  const names = ['index.html', ...readdirSync(join(folder, ASSETS)).map((name) => `${ASSETS}/${name}`)];
  return new Map(names.map((name) => [name, pageFile(name, readFileSync(join(folder, name)))]));
}

/** The same page, whose HTML carries settings. */
export function withSettings(
  files: ReadonlyMap<string, PageFile>,
  { readOnly, canKill, canReplay, hasTraces, extraRoutes, depth }: PageSettings,
): ReadonlyMap<string, PageFile> {
  const html = files.get('index.html')!.bytes.toString();
  const gateway = depth === 0 ? '.' : Array(depth).fill('..').join('/');
  const told = html.replace(
    '<html ',
    `<html data-gateway="${gateway}" data-extra-routes="${extraRoutes}" data-read-only="${readOnly}" data-can-kill="${canKill}" data-traces="${hasTraces}" data-can-replay="${canReplay}" `,
  );
  return new Map([...files, ['index.html', pageFile('index.html', Buffer.from(told))]]);
}

function pageFile(name: string, bytes: Buffer): PageFile {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return { type, bytes, gzip: gzipSync(bytes, { level: 9 }), hashed: name.startsWith(ASSETS) };
}
