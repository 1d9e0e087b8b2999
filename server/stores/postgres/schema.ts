import { createHash } from 'node:crypto';
import { APPENDING } from './sql/appending.js';
import { DROPPING } from './sql/dropping.js';
import { MEMBERS } from './sql/members.js';
import { RECORDS } from './sql/records.js';
import { SEARCHING } from './sql/searching.js';
import { TABLES } from './sql/tables.js';
import { TAKING } from './sql/taking.js';

/** The schema's version in the table `meta`. Change it with the schema. */
export const SCHEMA_VERSION = 11;

/**
 * The schema. Every write is one call of a function, so no gateway holds a lock while it thinks: a frozen one blocks nobody, a pooler may
 * give each call another connection, and a transaction is one round trip. `$S` stands for the schema's name.
 */
export const SCHEMA: string = [TABLES, TAKING, RECORDS, SEARCHING, APPENDING, DROPPING, MEMBERS].join('\n');

/** Tells the tables and functions apart, also those of one version: a function lives in the database, as the version that made it had it. */
export const SCHEMA_HASH: string = createHash('sha256').update(SCHEMA).digest('hex');
