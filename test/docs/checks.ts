import type { Page } from 'playwright-core';
import type { Block } from '../support/pages.js';
import { ADAPTERS } from './checks/adapters.js';
import { CLIENTS } from './checks/clients.js';
import { GUIDES } from './checks/guides.js';
import { HOSTS } from './checks/hosts.js';
import { PROTOCOLS } from './checks/protocols.js';
import { TESTING } from './checks/testing.js';
import type { Shown } from './page.js';

export type { Page };

/** A block that ran. */
export interface Ran {
  /** All that it declares, exported or not. */
  readonly exports: Record<string, any>;
  readonly prints: (pattern: RegExp) => Promise<void>;
}

export interface Check {
  /** A block whose gateway is served in place of the world's. */
  readonly serves?: string;
  /** Whether the world's gateway keeps its sessions in a file. */
  readonly durable?: true;
  /** What has to be there first. */
  readonly before?: (block: Block) => unknown;
  /** What the block has to print. */
  readonly prints?: RegExp;
  /** It follows something for ever: it need not end. */
  readonly endless?: true;
  /** What is to be seen afterwards; where nothing is said, `tryGateways`. */
  readonly after?: (ran: Ran) => unknown;
  /** It belongs to a page, and runs in Chromium. */
  readonly page?: Shown;
}

export type Checks = Readonly<Record<string, Check>>;

/** Blocks that are not run, and why. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'docs/acp.md#1': 'starts the command on a gateway of its own; test/cli/acp runs it',
  'docs/app-adapters.md#2': 'asks a model in the background; test/app-adapters/openai/background does',
  'docs/app-adapters.md#3': 'likewise',
  'docs/apps-anywhere.md#1': 'calls an app that is elsewhere; test/app-adapters/remote/served does',
  'docs/apps-anywhere.md#2': 'serves one for ever; likewise',
  'docs/apps-anywhere.md#3': 'waits for processes that ask for work; test/app-adapters/remote/pull has them',
  'docs/existing-agents.md#1': 'needs an agent that is served; test/app-adapters/ag-ui has one',
  'docs/existing-agents.md#2': 'likewise; test/app-adapters/a2a',
  'docs/existing-agents.md#4': 'starts a program of others; test/app-adapters/claude-agent has a stand-in',
  'docs/existing-agents.md#5': 'likewise; test/app-adapters/acp',
  'docs/existing-agents.md#3': 'asks Claude; test/app-adapters/anthropic does',
  'docs/cluster.md#1': 'needs a Redis; test/cli/store-place and test/deploy/rolling do the same',
  'docs/cluster.md#2': 'needs a PostgreSQL; likewise',
  'docs/data.md#3': 'exports a session that a block alone does not have; test/data/export does it',
  'docs/data.md#4': 'imports what that writes; test/data/export does it',
  'docs/notices.md#4':
    'asks a person for a permission; test/notices/push-browser has the service worker in Chromium',
  'docs/python.md#1': 'calls an app in Python; test/python/examples does',
  'docs/testing.md#2': 'is a test: test/testing/runners runs it with each runner',
  'docs/testing.md#6': 'registers tests; test/contract and test/testing/stores do',
  'docs/data.md#6': 'backs up an SQLite store to /backups; test/data/backup does it',
};

/** Blocks that need something first, or of which more is to be seen than that they run and that their gateways and apps answer. */
export const CHECKS: Checks = { ...ADAPTERS, ...CLIENTS, ...GUIDES, ...HOSTS, ...PROTOCOLS, ...TESTING };
