/** A socket that carries frames as texts. */
export interface FrameWire {
  send(text: string): void;
  close(): void;
  /** Whether somebody waits for this socket; where the runtime allows it, an idle one keeps no process alive. */
  hold?(busy: boolean): void;
}

/** What a socket reports. Never called before the opening call has returned. */
export interface FrameWireHandlers {
  onOpen(): void;
  onText(text: string): void;
  /** Called exactly once, also when it could not be opened or was closed from here. */
  onClose(): void;
}

/** Makes one attempt to open a socket. @throws GatewayError where there is no such thing as this kind of socket */
export type OpenFrameWire = (handlers: FrameWireHandlers) => FrameWire;
