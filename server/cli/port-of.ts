import { InvalidArgumentError } from 'commander';

/** Parses the port of an option. @throws InvalidArgumentError */
export function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
}
