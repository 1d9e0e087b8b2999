import { register } from 'node:module';

// `--import` this to take packages from the folder that PEERS names: what is installed there stands in for what the project has.
register('./resolve.mjs', import.meta.url);
