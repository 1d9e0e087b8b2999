/** A request as Nest's platforms have it: its URL, and the pattern of the route that took it. */
export interface RoutedRequest {
  readonly url: string;
  /** Express. */
  readonly route?: { readonly path?: unknown };
  /** Fastify. */
  readonly routeOptions?: { readonly url?: unknown };
}

/**
 * What stands before a route in a request's path: the host's global prefix, version and mount, any of which may look like the route
 * itself. The pattern tells them apart: below a route it has parameters alone.
 */
export function basePathOf(request: RoutedRequest, routes: readonly string[]): string | undefined {
  const pattern = request.route?.path ?? request.routeOptions?.url;
  if (typeof pattern !== 'string') return undefined;
  const shape = segmentsOf(pattern);
  const path = segmentsOf(request.url.split('?', 1)[0]!);
  // Where the host itself was mounted by another, its URL has lost what the pattern never had: both count from the same place.
  const found = routes
    .map((route) => lastIndexIn(shape, segmentsOf(route)))
    .filter((at) => at.start >= 0)
    .sort((a, b) => b.end - a.end || a.start - b.start)[0];
  return (
    found &&
    path
      .slice(0, found.start)
      .map((segment) => `/${segment}`)
      .join('')
  );
}

function lastIndexIn(shape: readonly string[], wanted: readonly string[]): { start: number; end: number } {
  for (let start = shape.length - wanted.length; start >= 0; start -= 1) {
    if (wanted.every((segment, at) => shape[start + at] === segment))
      return { start, end: start + wanted.length };
  }
  return { start: -1, end: -1 };
}

function segmentsOf(path: string): string[] {
  return path.split('/').slice(1);
}
