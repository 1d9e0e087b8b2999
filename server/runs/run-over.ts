/** The run has ended, so nothing begins in it any more. */
export class RunOver extends DOMException {
  constructor() {
    super('The run has ended', 'AbortError');
  }
}
