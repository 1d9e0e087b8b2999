import type { LoggedEventData } from '../../shared/events.js';

type ToolReport = LoggedEventData['tool_progress'];

/** The progress of tools: the last report of each in one turn of the event loop is logged. */
export class LatestProgress {
  readonly #log: (report: ToolReport) => void;
  readonly #failed: (error: unknown) => void;
  #reports: Map<string, ToolReport> | null = null;

  constructor(log: (report: ToolReport) => void, failed: (error: unknown) => void) {
    this.#log = log;
    this.#failed = failed;
  }

  add(report: ToolReport): void {
    if (!this.#reports) {
      this.#reports = new Map();
      setImmediate(() => {
        try {
          this.flush();
        } catch (error) {
          this.#failed(error);
        }
      });
    }
    this.#reports.set(report.callId, report);
  }

  /** Logs what has come. @throws GatewayError if that is refused */
  flush(): void {
    const reports = this.#reports;
    this.#reports = null;
    if (reports) for (const report of reports.values()) this.#log(report);
  }
}
