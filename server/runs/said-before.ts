/**
 * The text of one kind that a run had said before it was taken up. The app says it again from the beginning, and readers have it: only what goes beyond it
 * is new. From where the app says something else, all of it is new.
 */
export class SaidBefore {
  /** Characters that were said again. */
  said = 0;
  /** The text that was said and not again yet, by blocks. */
  #blocks: readonly string[];
  /** The beginning of the first block, which was said again. */
  #again = '';
  /** The former text, and that of the app in its place, once it says something else. */
  other: { readonly before: string; readonly now: string } | null = null;

  constructor(blocks: readonly string[]) {
    this.#blocks = blocks.filter((text) => text !== '');
  }

  /** The rest of the present block, which is not said again yet. */
  get left(): string {
    return this.#blocks[0]?.slice(this.#again.length) ?? '';
  }

  /** The part of a piece that readers have not received, with what came before it in its block if that turns out to be another text. */
  take(piece: string): string {
    let rest = piece;
    while (rest !== '' && this.#blocks.length > 0) {
      const { left } = this;
      if (left.startsWith(rest)) {
        this.#again += rest;
        this.said += rest.length;
        if (rest.length === left.length) this.#goTo(1);
        return '';
      }
      if (rest.startsWith(left)) {
        rest = rest.slice(left.length);
        this.said += left.length;
        this.#goTo(1);
      } else {
        rest = this.#again + rest;
        // A text that an interruption cut off may have been said anew behind it.
        const said = rest;
        const later = this.#blocks.findIndex(
          (block, at) => at > 0 && (block.startsWith(said) || said.startsWith(block)),
        );
        if (later < 0) this.other = { before: this.#blocks[0]!, now: said };
        this.#goTo(later < 0 ? this.#blocks.length : later);
      }
    }
    return rest;
  }

  #goTo(block: number): void {
    this.#blocks = this.#blocks.slice(block);
    this.#again = '';
  }
}
