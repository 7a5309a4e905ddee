// The WebSocket to the server: greets, delivers states, and comes back by itself when it breaks.

import type { Bottom, BottomCard, Event, Hello, History, Refused, Request, Samples, Sea, Seats } from "./messages";
import { decode, type State } from "./state";

export interface Listener {
  hello(hello: Hello): void;
  state(state: State): void;
  event(event: Event): void;
  refused(text: string): void;
  seats(viewers: number): void;
  sea(sea: Sea): void;
  bottom(bottom: BottomCard): void;
  samples(samples: Samples): void;
  history(history: History): void;
  /** The connection is there, or it is not and why. */
  connected(there: boolean, text: string): void;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;

export class Connection {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;

  constructor(
    private readonly address: string,
    private readonly listener: Listener,
  ) {
    this.open();
  }

  send(request: Request): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(request));
  }

  /** For tests: break the connection as a network would. */
  drop(): void {
    this.socket?.close();
  }

  private open(): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let greeted = false;
    socket.onmessage = (message: MessageEvent<ArrayBuffer | string>) => {
      if (typeof message.data !== "string") {
        if (greeted) this.listener.state(decode(message.data));
        return;
      }
      const told = JSON.parse(message.data) as
        | Hello
        | Event
        | Refused
        | Seats
        | Samples
        | History
        | Sea
        | Bottom;
      if (told.type === "hello") {
        greeted = true;
        this.wait = FIRST_WAIT;
        this.listener.hello(told);
        this.listener.connected(true, "");
      } else if (told.type === "event") this.listener.event(told);
      else if (told.type === "samples") this.listener.samples(told);
      else if (told.type === "history") this.listener.history(told);
      else if (told.type === "refused") this.listener.refused(told.text);
      else if (told.type === "sea") this.listener.sea(told);
      else if (told.type === "bottom") this.listener.bottom(told.bottom);
      else this.listener.seats(told.viewers);
    };
    socket.onclose = () => {
      const seconds = Math.round(this.wait / 100) / 10;
      const text = `No connection to the simulation; trying again every ${seconds} s.`;
      this.listener.connected(false, text);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 1.6, LONGEST_WAIT);
    };
  }
}

export function addressOf(page: Location): string {
  const scheme = page.protocol === "https:" ? "wss:" : "ws:";
  const token = new URLSearchParams(page.search).get("token");
  return `${scheme}//${page.host}/ws` + (token ? `?token=${encodeURIComponent(token)}` : "");
}
