export default {
  cacheComponents: true,
  partialPrefetching: true,
  // The playground's page ends with a slash.
  skipTrailingSlashRedirect: true,
  // Next looks for its folder above, where this project is a copy.
  turbopack: { root: import.meta.dirname },
};
