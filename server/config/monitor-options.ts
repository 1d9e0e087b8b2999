/** How operators and their tools reach a gateway, apart from its users. */
export interface MonitorOptions {
  /** The port to listen on, 0 for any free one. */
  readonly port: number;
  /** The address to listen on. Others than loopback need a token. @default '127.0.0.1' */
  readonly host?: string;
  /**
   * The operators' token in `Authorization: Bearer …`, at least 32 bytes; several during a rotation. Health needs none, the desk always
   * does.
   *
   * @default none: everybody on this machine may read, and nobody may change anything
   */
  readonly token?: string | readonly string[];
}
