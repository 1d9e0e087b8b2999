/** An element of a list, such as `text/*;q=0.5` (RFC 9110, section 5.6). */
interface Element {
  /** In lower case. */
  readonly name: string;
  /** From 0, which refuses it, to 1. */
  readonly weight: number;
}

/** The meaning of a list for one name. */
interface Match {
  readonly weight: number;
  /** The number of wildcards by which it is meant. */
  readonly wildcards: number;
}

const REFUSED: Match = { weight: 0, wildcards: 3 };

/** The elements of a list. A comma in a quoted value divides nothing; parameters other than the weight don't count. */
function elementsOf(header: string): readonly Element[] {
  const elements: Element[] = [];
  for (const element of header.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []) {
    const [name, ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
    if (!name) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const isValid = quality !== undefined && /^(?:0(?:\.\d*)?|1(?:\.0*)?)$/.test(quality);
    elements.push({ name, weight: isValid ? Number(quality) : 1 });
  }
  return elements;
}

/** @param names The name, and what else means it, from the exact to the general */
function matchOf(header: string | undefined, names: readonly string[]): Match {
  const elements = elementsOf(header ?? '');
  // A client that names nothing takes anything.
  if (elements.length === 0) return { weight: 1, wildcards: names.length - 1 };
  for (const [wildcards, name] of names.entries()) {
    const weights = elements.filter((element) => element.name === name).map(({ weight }) => weight);
    if (weights.length > 0) return { weight: Math.max(...weights), wildcards };
  }
  return REFUSED;
}

const typeIn = (accept: string | undefined, type: string): Match =>
  matchOf(accept, [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']);

/** Whether a client accepts a media type, in lower case, by its `Accept` (RFC 9110, section 12.5.1). */
export function accepts(accept: string | undefined, type: string): boolean {
  return typeIn(accept, type).weight > 0;
}

/** Whether a client would rather have one media type than another, by their weights, or by a name where the other has a wildcard. */
export function prefers(accept: string | undefined, type: string, other: string): boolean {
  const one = typeIn(accept, type);
  const two = typeIn(accept, other);
  return one.weight > two.weight || (one.weight === two.weight && one.wildcards < two.wildcards);
}

/** Whether a client asks for a coding of the content, by its `Accept-Encoding` (section 12.5.3). */
export function acceptsCoding(acceptEncoding: string | undefined, coding: string): boolean {
  return !!acceptEncoding?.trim() && matchOf(acceptEncoding, [coding, '*']).weight > 0;
}

/** Whether a list of tokens, such as `Prefer`, has one. */
export function hasToken(header: string | undefined, token: string): boolean {
  return elementsOf(header ?? '').some(({ name }) => name === token);
}
