import { composeId } from '../../../shared/composed-id.js';
import type { Identity } from '../../auth/types.js';
import { digestOf } from '../../ids.js';
import type { PluginContext, PluginNotes } from '../plugin.js';

const DAY_MS = 24 * 3_600_000;

/** Values that only their user can read, by names of any length, for a day. */
export class UserNotes<Value> {
  readonly #notes: PluginNotes;
  readonly #kind: string;

  /** @param kind Distinguishes them from the plugin's other notes */
  constructor({ peers }: Pick<PluginContext, 'peers'>, kind: string) {
    this.#notes = peers.notes;
    this.#kind = kind;
  }

  async put(identity: Identity, name: string, value: Value): Promise<void> {
    await this.#notes.put(this.#nameOf(identity, name), JSON.stringify(value), { ttlMs: DAY_MS });
  }

  async get(identity: Identity, name: string): Promise<Value | undefined> {
    const note = await this.#notes.get(this.#nameOf(identity, name));
    return note === null ? undefined : (JSON.parse(note) as Value);
  }

  /** Reads a value and removes it. */
  async take(identity: Identity, name: string): Promise<Value | undefined> {
    const value = await this.get(identity, name);
    if (value !== undefined) await this.#notes.drop(this.#nameOf(identity, name));
    return value;
  }

  #nameOf({ scope, userKey }: Identity, name: string): string {
    return `${this.#kind}:${digestOf(composeId(scope, userKey, name))}`;
  }
}
