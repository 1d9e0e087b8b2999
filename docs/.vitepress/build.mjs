// Beside the packages that only the site needs, which are found from here alone.
export { build } from 'vitepress';
