/** The text of one kind that a run has said. Each slice says it from the beginning: only what goes beyond it is new. */
export class SaidAgain {
  #all = '';
  /** Place of the present slice in it, in characters of JavaScript. */
  #at = 0;
  #points = 0;

  /** Whether the slice has said all of it. */
  get isAtEnd(): boolean {
    return this.#at === this.#all.length;
  }

  /** Its length in Unicode code points. */
  get points(): number {
    return this.#points;
  }

  /** Its length in characters of JavaScript. */
  get length(): number {
    return this.#all.length;
  }

  /** Begins a slice, which says all of it again. */
  begin(): void {
    this.#at = 0;
  }

  /** Moves the slice to a place, in code points. Returns false if it is beyond the end. */
  moveTo(points: number): boolean {
    if (points > this.#points) return false;
    this.#at = points === this.#points ? this.#all.length : unitsOf(this.#all, points, this.#points);
    return true;
  }

  /** Takes a piece, and returns the new part of it. Null if the slice says another text here: then nothing is taken. */
  take(piece: string): string | null {
    const left = this.#all.length - this.#at;
    if (left === 0) return this.#add(piece);
    if (piece.length <= left) {
      if (!this.#all.startsWith(piece, this.#at)) return null;
      this.#at += piece.length;
      return '';
    }
    if (!piece.startsWith(this.#all.slice(this.#at))) return null;
    this.#at = this.#all.length;
    return this.#add(piece.slice(left));
  }

  /** Forgets what comes behind a place, at most that of the slice. Returns what the slice has said between both. */
  cut(to: number): string {
    const again = this.#all.slice(to, this.#at);
    // Places may be within a pair of surrogates, as those of pieces are.
    this.#all = this.#all.slice(-this.#all.length, to);
    this.#at = to;
    this.#points = pointsOf(this.#all);
    return again;
  }

  /** The place of the slice, in characters of JavaScript. */
  get at(): number {
    return this.#at;
  }

  #add(piece: string): string {
    // A pair of surrogates may come in two pieces.
    const seam = `${this.#all.at(-1) ?? ''}${piece.at(0) ?? ''}`;
    this.#points += pointsOf(piece) - (seam.length - pointsOf(seam));
    this.#all += piece;
    this.#at = this.#all.length;
    return piece;
  }
}

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

const pointsOf = (text: string): number => text.length - (text.match(PAIR)?.length ?? 0);

/** The place of a number of code points in a text that has `all` of them. */
function unitsOf(text: string, points: number, all: number): number {
  if (all === text.length) return points;
  let units = 0;
  for (let at = 0; at < points; at++) units += text.codePointAt(units)! > 0xffff ? 2 : 1;
  return units;
}
