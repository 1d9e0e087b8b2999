import { accessSync, constants, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { isGatewayError } from 'agent-session-gateway/client';
import { isSharedPlace, shownPlace, storeAt } from '../../runtime/store-at.js';
import { hasSqlite, loadsTypeScript } from '../serve/abilities.js';
import { type Finding, ok, problem, warning } from './finding.js';
import { isAnswer, isGateways, probe } from './probe.js';

/** Reports the abilities of this Node. Its version was checked before the command began. */
export function examineNode(): Finding {
  const { node } = process.versions;
  const about = 'Node';
  const missing = [
    ...(loadsTypeScript() ? [] : [{ what: 'TypeScript files', from: '22.18', name: 'tsx' }]),
    ...(hasSqlite() ? [] : [{ what: 'databases', from: '22.13', name: 'libsql' }]),
  ];
  if (missing.length === 0) return ok(about, node);
  const list = (parts: readonly string[]) => parts.join(' and ');
  return warning(
    about,
    `${node} runs the gateway, but opens no ${list(missing.map(({ what }) => what))}`,
    `To use them, npm install ${missing.map(({ name }) => name).join(' ')}; or use Node ${missing[0]!.from} or newer.`,
  );
}

/** Checks whether a gateway could listen on a port. */
export async function examinePort(host: string, port: number, patienceMs: number): Promise<Finding> {
  const about = `port ${port}`;
  const code = await listenError(host, port);
  if (code === undefined) return ok(about, 'is free');
  if (code !== 'EADDRINUSE')
    return problem(
      about,
      `cannot be listened on: ${code}`,
      code === 'EACCES' ? 'Take a port from 1024 on.' : 'Check the host name.',
    );
  const answer = await probe({
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/status`,
    patienceMs,
  });
  const who = isAnswer(answer) && isGateways(answer) ? 'another gateway' : 'another program';
  return problem(
    about,
    `is taken by ${who}`,
    `Stop that, or choose another port; \`lsof -i :${port}\` names it.`,
  );
}

function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => done(code ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)));
  });
}

/** Checks whether a gateway could open a database. */
export async function examineDatabase(path: string): Promise<Finding> {
  const about = `database ${shownPlace(path)}`;
  const isShared = isSharedPlace(path);
  if (!isShared && !existsSync(path)) return missing(about, path);
  const store = await storeAt(path);
  try {
    await store.open();
    await store.close();
    return ok(about, isShared ? 'can be opened, by as many gateways as share it' : 'can be opened');
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    const { reason } = (error.details ?? {}) as { readonly reason?: string };
    return problem(
      about,
      error.message,
      isShared
        ? 'docs/cluster.md tells what the store needs.'
        : reason === 'locked'
          ? `Stop the gateway that has it; \`lsof ${path}\` names the process. Each gateway needs a file of its own.`
          : 'docs/durability.md tells what the file needs.',
    );
  }
}

function missing(about: string, path: string): Finding {
  let folder = dirname(resolve(path));
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return ok(about, 'will be made at the first start');
  } catch {
    return problem(
      about,
      `cannot be made: ${folder} is not writable`,
      'Give this user the folder, or take another one.',
    );
  }
}
