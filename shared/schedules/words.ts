import type { CauseWords, FeatureWords } from '../words.js';
import type { SCHEDULE_CAUSES, ScheduleEvents, ScheduleLimits, ScheduleOperations } from './contract.js';

const SESSION = ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'] as const;

export const SCHEDULES: FeatureWords<ScheduleOperations, ScheduleEvents, ScheduleLimits> &
  CauseWords<(typeof SCHEDULE_CAUSES)[number]> = {
  operations: {
    schedule: {
      ...{ least: 'operator', audit: ['id'], rate: 'sends', fills: true, tag: 'conversation' },
      sample: { sessionId: 'main', message: 'hi', every: '0 9 * * *' },
      summary: 'Set a schedule',
      description:
        'Its message is sent once, `at` a time, or again and again, as `every` says. One of the same `id` takes its place. Each instant has one run at most, also where gateways end and clocks jump. Begins a session that is not there.',
      errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
    },
    unschedule: {
      ...{ least: 'operator', audit: ['id'], rate: 'sends', tag: 'conversation' },
      sample: { sessionId: 'main', id: 'daily' },
      summary: 'Take a schedule back',
      description: 'One that there is not is taken back already.',
      errors: [...SESSION, 'SESSION_CLOSED', 'SHUTTING_DOWN'],
    },
    schedules: {
      ...{ least: 'viewer', rate: 'reads', tag: 'conversation' },
      sample: { sessionId: 'main' },
      summary: 'The schedules of a session',
      description: 'In the order in which they fire next.',
      errors: [...SESSION],
    },
  },
  events: {
    schedule_set: { summary: 'A schedule was set, or took the place of one of its name', foreign: true },
    schedule_unset: { summary: 'A schedule was taken back' },
    schedule_fired: { summary: 'An instant of a schedule: it has a run, or was skipped' },
  },
  causes: { schedule_fired: 'A scheduled task has begun' },
  limits: {
    schedulesPerSession: { kind: 'count', default: 32 },
    schedulesPerUser: { kind: 'count', default: 1000 },
    scheduleMinMs: { kind: 'age', default: 60_000 },
    scheduleGraceMs: { kind: 'age', default: 60_000 },
    scheduleLength: { kind: 'count', default: 16 * 1024 },
  },
};
