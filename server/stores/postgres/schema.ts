import { APPENDING } from './sql/appending.js';
import { DROPPING } from './sql/dropping.js';
import { MEMBERS } from './sql/members.js';
import { TABLES } from './sql/tables.js';
import { TAKING } from './sql/taking.js';

/**
 * The steps from one version of the schema to the next; the table `meta` says how many it has taken. Steps that were released are never
 * changed: gateways of two versions use the schema at once while one takes over from the other. A function that has to change gets a new
 * name in a new step.
 *
 * Every write is one call of a function. So no gateway holds a lock while it thinks: one that is frozen or cut off holds up nobody, a
 * pooler may give each call another connection, and a transaction is one round trip. `$S` stands for the schema's name.
 */
export const MIGRATIONS: readonly string[] = [[TABLES, TAKING, APPENDING, DROPPING, MEMBERS].join('\n')];
