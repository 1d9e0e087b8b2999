import { composeId } from '../../../shared/composed-id.js';
import type { Person } from '../../auth/types.js';
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

  async put(person: Person, name: string, value: Value): Promise<void> {
    await this.#notes.put(this.#nameOf(person, name), JSON.stringify(value), { ttlMs: DAY_MS });
  }

  async get(person: Person, name: string): Promise<Value | undefined> {
    const note = await this.#notes.get(this.#nameOf(person, name));
    return note === null ? undefined : (JSON.parse(note) as Value);
  }

  /** Reads a value and removes it. */
  async take(person: Person, name: string): Promise<Value | undefined> {
    const value = await this.get(person, name);
    if (value !== undefined) await this.#notes.drop(this.#nameOf(person, name));
    return value;
  }

  #nameOf({ scope, key }: Person, name: string): string {
    return `${this.#kind}:${digestOf(composeId(scope, key, name))}`;
  }
}
