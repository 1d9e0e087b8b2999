export { type AcpAppOptions, acpApp } from './acp-app.js';
