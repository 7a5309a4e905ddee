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

export class Driver {
  /** On-screen stick or gamepad; keys stand above it. */
  stick: Axes = { ahead: 0, starboard: 0, dive: 0 };
  private readonly held = new Set<string>();
  private sent: Axes | null = null;
  private sentAt = 0;

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
    this.stick = { ahead: 0, starboard: 0, dive: 0 };
  }

  /** The vehicle was given back, or another one is driven. */
  forget(): void {
    this.letGo();
    this.sent = null;
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
  update(now: number): void {
    const axes = this.axes();
    const idle = axes.ahead === 0 && axes.starboard === 0 && axes.dive === 0;
    const last = this.sent ?? { ahead: 0, starboard: 0, dive: 0 };
    const same =
      axes.ahead === last.ahead && axes.starboard === last.starboard && axes.dive === last.dive;
    if (same || (this.sent === null && idle) || now - this.sentAt < PERIOD) return;
    this.sent = axes;
    this.sentAt = now;
    this.send({ type: "stick", vehicle: this.vehicle(), ...axes });
  }
}

/** The first gamepad that is connected: left stick up is ahead, right stick aside turns. */
export function gamepad(): Axes | null {
  const pad = navigator.getGamepads().find((p) => p?.connected);
  if (!pad) return null;
  const dead = (v: number | undefined) => (v === undefined || Math.abs(v) < 0.12 ? 0 : v);
  return { ahead: -dead(pad.axes[1]), starboard: dead(pad.axes[2] ?? pad.axes[0]), dive: dead(pad.axes[3]) };
}
