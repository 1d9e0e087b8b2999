/** A request of Nest's platforms: its URL, and the pattern of the matched route. */
export interface RoutedRequest {
  readonly url: string;
  /** Express. */
  readonly route?: { readonly path?: unknown };
  /** Fastify. */
  readonly routeOptions?: { readonly url?: unknown };
}

/**
 * The part of a request's path before the route: the host's global prefix, version and mount, any of which may look like the route itself.
 * The pattern tells them apart, because it has only parameters below a route.
 */
export function basePathOf(request: RoutedRequest, routes: readonly string[]): string | undefined {
  const pattern = request.route?.path ?? request.routeOptions?.url;
  if (typeof pattern !== 'string') return undefined;
  const shape = segmentsOf(pattern);
  const path = segmentsOf(request.url.split('?', 1)[0]!);
  // If the host itself is mounted elsewhere, its URL lacks that mount just as the pattern does, so the positions agree.
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
