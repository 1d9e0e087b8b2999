import { isGatewayError } from '../index.js';
import { runDemo } from './run-demo.js';

runDemo(process.env, { say: console.log, warn: console.warn, command: 'npm start' }).catch(
  (error: unknown) => {
    console.error(isGatewayError(error) ? error.message : error);
    process.exit(1);
  },
);
