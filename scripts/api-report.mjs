// Writes the public types of every export to api/, so that a change of them shows in a diff. With --check it compares instead and
// fails on a difference. It reads what `npm run build` has written.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { install } from './installed.mjs';

install('scripts');
const { Extractor, ExtractorConfig } = await import('@microsoft/api-extractor');
const { splitReport } = await import('./api-split.mjs');

const check = process.argv.includes('--check');
const manifestPath = resolve('package.json');
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
const folder = resolve('.cache/api');
const faults = [];

const entries = Object.entries(manifest.exports)
  .filter(([, target]) => target.types)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([path, { types }]) => ({
    report: path === '.' ? 'index' : path.slice(2).replaceAll('/', '-'),
    title: join(manifest.name, path),
    types: types.replace('./dist/', './.cache/types/'),
  }));

/** One report of all entries, each a namespace: API Extractor says every type once then, and compiles once. */
function reportOfAll() {
  const main = join(folder, 'entries.d.ts');
  const lines = entries.map(
    ({ types }, at) => `export * as $${at} from '../../${join(types).replace(/\.d\.ts$/, '.js')}';\n`,
  );
  writeFileSync(main, lines.join(''));
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: manifestPath,
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: process.cwd(),
      mainEntryPointFilePath: main,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2022',
            lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
            module: 'nodenext',
            moduleResolution: 'nodenext',
            types: ['node'],
            strict: true,
            exactOptionalPropertyTypes: true,
            skipLibCheck: true,
          },
          files: [main],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: 'all.api.md',
        reportFolder: folder,
        reportTempFolder: join(folder, 'temp'),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        // The reports are about types; docstrings are for people and have a test of their own.
        extractorMessageReporting: {
          default: { logLevel: 'none' },
          'ae-unresolved-link': { logLevel: 'none' },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  });
  const { errorCount } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === 'error' && message.category !== 'console') faults.push(message.text);
    },
  });
  if (errorCount > 0) faults.push(`API Extractor: ${errorCount} errors`);
  const [, code] = readFileSync(join(folder, 'all.api.md'), 'utf8').split(/^```.*\n/m);
  return code;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const all = join(folder, 'all.d.ts');
writeFileSync(all, reportOfAll());
const reports = splitReport(all, entries);
rmSync(folder, { recursive: true });

mkdirSync('api', { recursive: true });
const present = readdirSync('api');
for (const [file, text] of reports) {
  const path = join('api', file);
  if (!check) writeFileSync(path, text);
  else if (!present.includes(file) || readFileSync(path, 'utf8') !== text)
    faults.push(`${path} is out of date; run npm run api`);
}
for (const stale of present.filter((file) => !reports.has(file))) {
  if (check) faults.push(`api/${stale} is of no export`);
  else rmSync(join('api', stale));
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
