/** What stands before a route in a URL: the host's global prefix, version and mount; undefined when the route is not in it. */
export function basePathOf(url: string, route: string): string | undefined {
  const path = url.split('?', 1)[0]!;
  const at = `${path}/`.indexOf(`${route}/`);
  return at < 0 ? undefined : path.slice(0, at);
}
