// Keys and sticks as orders: sent when they change, and at most so many times a second.

import type { Stick } from "./messages";

const KEYS: Record<string, [keyof Axes, number]> = {
  KeyW: ["ahead", 1],
  ArrowUp: ["ahead", 1],
  KeyS: ["ahead", -1],
  ArrowDown: ["ahead", -1],
  KeyD: ["starboard", 1],
  ArrowRight: ["starboard", 1],
  KeyA: ["starboard", -1],
  ArrowLeft: ["starboard", -1],
  KeyF: ["dive", 1],
  KeyR: ["dive", -1],
};

export interface Axes {
  ahead: number;
  starboard: number;
  dive: number;
}

const PERIOD = 80;
/** Nobody touches anything. */
export const REST: Readonly<Axes> = { ahead: 0, starboard: 0, dive: 0 };

function same(one: Axes, other: Axes): boolean {
  return one.ahead === other.ahead && one.starboard === other.starboard && one.dive === other.dive;
}

export class Driver {
  /** On-screen stick or gamepad; keys stand above it. */
  stick: Readonly<Axes> = REST;
  private readonly held = new Set<string>();
  private sent: Axes | null = null;
  private sentAt = 0;
  /** To whom. */
  private driven = "";
  /** Whether the gamepad's sticks are out of the middle. */
  private padded = false;

  constructor(
    private readonly send: (stick: Stick) => void,
    private readonly vehicle: () => string,
  ) {}

  /** Whether a key is one of ours. */
  key(code: string, down: boolean): boolean {
    if (!(code in KEYS)) return false;
    if (down) this.held.add(code);
    else this.held.delete(code);
    return true;
  }

  /** All keys are up: the window lost the keyboard. */
  letGo(): void {
    this.held.clear();
    this.stick = REST;
  }

  /** The vehicle was given back, or nobody hears what is sent. */
  forget(): void {
    this.letGo();
    this.sent = null;
  }

  /** Another vehicle is driven from here on: the stick of the one before springs back. */
  change(): void {
    if (this.sent && !same(this.sent, REST)) this.send({ type: "stick", vehicle: this.driven, ...REST });
    this.forget();
  }

  /** What a gamepad says, if there is one: it is heard while somebody holds it, and when it is let go. */
  hear(pad: Axes | null): void {
    const out = pad !== null && !same(pad, REST);
    if (out || this.padded) this.stick = out ? pad : REST;
    this.padded = out;
  }

  axes(): Axes {
    const axes = { ...this.stick };
    for (const code of this.held) {
      const [axis, value] = KEYS[code]!;
      axes[axis] += value;
    }
    for (const axis of ["ahead", "starboard", "dive"] as const) {
      axes[axis] = Math.round(100 * Math.min(Math.max(axes[axis], -1), 1)) / 100;
    }
    return axes;
  }

  /** Send what changed; nothing is sent before somebody touches a key or a stick. */
  update(now: number, axes: Readonly<Axes> = this.axes()): void {
    if (same(axes, this.sent ?? REST) || now - this.sentAt < PERIOD) return;
    this.sent = axes;
    this.sentAt = now;
    this.driven = this.vehicle();
    this.send({ type: "stick", vehicle: this.driven, ...axes });
  }
}

/** The first gamepad that is connected: left stick up is ahead, right stick aside turns. */
export function gamepad(): Axes | null {
  const pad = navigator.getGamepads().find((p) => p?.connected);
  if (!pad) return null;
  const dead = (v: number | undefined) => (v === undefined || Math.abs(v) < 0.12 ? 0 : v);
  return { ahead: -dead(pad.axes[1]), starboard: dead(pad.axes[2] ?? pad.axes[0]), dive: dead(pad.axes[3]) };
}
