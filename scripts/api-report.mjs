// Writes the public types of every export to api/, so that a change of them shows in a diff. With --check it compares instead and
// fails on a difference. It reads what `npm run build` has written.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const check = process.argv.includes('--check');
const manifestPath = resolve('package.json');
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
const reportFolder = resolve('api');
const tempFolder = mkdtempSync(join(tmpdir(), 'api-report-'));
mkdirSync(reportFolder, { recursive: true });

const entries = Object.entries(manifest.exports).filter(([, target]) => target.types);
const nameOf = (path) => (path === '.' ? 'index' : path.slice(2).replaceAll('/', '-'));
const faults = [];

for (const [path, { types }] of entries) {
  const reportFileName = `${nameOf(path)}.api.md`;
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: manifestPath,
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: process.cwd(),
      mainEntryPointFilePath: resolve(types),
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
          files: [resolve(types)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName,
        reportFolder,
        reportTempFolder: tempFolder,
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
  const { apiReportChanged, errorCount } = Extractor.invoke(config, {
    localBuild: !check,
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === 'error' && message.category !== 'console')
        faults.push(`${path}: ${message.text}`);
    },
  });
  if (check && apiReportChanged)
    faults.push(`${path}: api/${reportFileName} is out of date; run npm run api`);
  else if (errorCount > 0) faults.push(`${path}: ${errorCount} errors`);
}

const expected = entries.map(([path]) => `${nameOf(path)}.api.md`);
for (const stale of readdirSync(reportFolder).filter((file) => !expected.includes(file))) {
  if (check) faults.push(`api/${stale} is of no export`);
  else rmSync(join(reportFolder, stale));
}
rmSync(tempFolder, { recursive: true });
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
