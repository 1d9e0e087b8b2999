/** A message of the model: whose it is, null for an answer, and when it came. */
interface Said {
  readonly parent: string | null;
  readonly by: string | null;
  readonly at: number;
}

/** A conversation as people read it, told without counts: who has read up to when, and what is shown. */
export class Conversation {
  readonly messages = new Map<string, Said>();
  /** Places of the log, and the time that each stands for. */
  readonly places: { readonly cursor: string; readonly at: number }[] = [];
  tip: string | null = null;
  now = 0;
  readonly #readTo = new Map<string, number>();

  /** Messages that are there from the start have been read by everybody. */
  constructor(given: readonly string[] = []) {
    for (const id of given) {
      this.messages.set(id, { parent: this.tip, by: null, at: 0 });
      this.tip = id;
    }
  }

  /** Something is said behind what is shown. */
  say(id: string, by: string | null): void {
    this.messages.set(id, { parent: this.tip, by, at: ++this.now });
    this.tip = id;
  }

  path(): readonly string[] {
    const path: string[] = [];
    for (let id = this.tip; id !== null; id = this.messages.get(id)!.parent) path.unshift(id);
    return path;
  }

  read(person: string, at = this.now): void {
    this.#readTo.set(person, Math.max(at, this.#readTo.get(person) ?? 0));
  }

  unread(person: string): number {
    const read = this.#readTo.get(person) ?? 0;
    return this.path().filter((id) => {
      const { by, at } = this.messages.get(id)!;
      return at > read && by !== person;
    }).length;
  }
}
