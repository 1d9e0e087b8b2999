import { type Command, Option } from 'commander';
import { LOG_LEVELS } from '../../runtime/process-logger.js';
import { portOf } from '../port-of.js';

/** The common options of `dev` and `start`. */
export interface FileOptions {
  readonly port?: number;
  readonly host?: string;
  readonly db: string;
  readonly files?: string;
  readonly envFile?: string;
  readonly logLevel?: string;
}

/** Adds the options of commands that serve a file. @param db The default place of sessions. */
export function withFile(command: Command, db: string): Command {
  return command
    .argument(
      '[file]',
      'exports a gateway, its configuration, an app, or apps (default: gateway, server, app, agent or index, .ts or .js, here or in src)',
    )
    .addOption(
      new Option('--port <port>', "the port to listen on, in place of the file's")
        .env('PORT')
        .argParser(portOf),
    )
    .addOption(new Option('--host <host>', "the address to listen on, in place of the file's").env('HOST'))
    .addOption(
      new Option(
        '--db <place>',
        'where sessions are kept, if the file has no `store`: a file, a URL of Redis or PostgreSQL, which gateways share; `memory` keeps none',
      )
        .default(db)
        .env('GATEWAY_DB'),
    )
    .addOption(
      new Option(
        '--files <folder>',
        'where uploaded files are kept, if the file has no `files` (default: beside the database)',
      ).env('GATEWAY_FILES'),
    )
    .addOption(
      new Option(
        '--log-level <level>',
        'the least level that is logged, if the file has no `logger` (default: info, env: LOG_LEVEL)',
      ).choices(LOG_LEVELS),
    )
    .option('--env-file <file>', 'read environment variables from here, as node does');
}
