// States as they come over the wire, and the picture of the moment between them.

import { FLAGS, HEAD, HEAD_BYTES, type Hello, type VehicleCard } from "./messages";

export interface State {
  time: number;
  sequence: number;
  run: number;
  speed: number;
  playing: boolean;
  ended: boolean;
  /** All numbers behind the head. */
  numbers: Float32Array;
}

/** Where the parts of every vehicle lie among the numbers of a state. */
export class Layout {
  readonly vehicles: Map<string, { at: number; size: number }>[] = [];
  /** Where the moving bodies begin. */
  readonly bodies: number;
  readonly length: number;

  constructor(hello: Hello) {
    let at = 0;
    for (const vehicle of hello.vehicles) {
      const parts = new Map<string, { at: number; size: number }>();
      for (const part of vehicle.fields) {
        parts.set(part.name, { at, size: part.size });
        at += part.size;
      }
      this.vehicles.push(parts);
    }
    this.bodies = at;
    this.length = at + 7 * hello.bodies.filter((b) => b.moves).length;
  }

  /** Numbers of one part of one vehicle; empty where it has none. */
  of(numbers: Float32Array, vehicle: number, part: string): Float32Array {
    const place = this.vehicles[vehicle]?.get(part);
    return place ? numbers.subarray(place.at, place.at + place.size) : new Float32Array(0);
  }
}

export function decode(message: ArrayBuffer): State {
  const head = new DataView(message);
  const flags = head.getUint32(HEAD.flags, true);
  return {
    time: head.getFloat64(HEAD.time, true),
    sequence: head.getUint32(HEAD.sequence, true),
    run: head.getUint32(HEAD.run, true),
    speed: head.getFloat32(HEAD.speed, true),
    playing: (flags & FLAGS.playing) !== 0,
    ended: (flags & FLAGS.ended) !== 0,
    numbers: new Float32Array(message, HEAD_BYTES),
  };
}

const QUATERNIONS = new Set(["attitude"]);

/** A state between two others, share 0 to 1: linear, quaternions on the shorter arc. */
export function between(a: State, b: State, share: number, layout: Layout): Float32Array {
  const out = new Float32Array(b.numbers.length);
  for (let i = 0; i < out.length; i++) {
    const from = a.numbers[i]!;
    out[i] = from + share * (b.numbers[i]! - from);
  }
  const turn = (at: number) => {
    let dot = 0;
    for (let i = at; i < at + 4; i++) dot += a.numbers[i]! * b.numbers[i]!;
    const sign = dot < 0 ? -1 : 1;
    let length = 0;
    for (let i = at; i < at + 4; i++) {
      out[i] = (1 - share) * a.numbers[i]! + share * sign * b.numbers[i]!;
      length += out[i]! * out[i]!;
    }
    length = Math.sqrt(length) || 1;
    for (let i = at; i < at + 4; i++) out[i] = out[i]! / length;
  };
  for (const parts of layout.vehicles) {
    for (const [name, place] of parts) {
      if (QUATERNIONS.has(name)) turn(place.at);
      else if (name === "estimate") turn(place.at + 3);
    }
  }
  for (let at = layout.bodies; at + 7 <= out.length; at += 7) turn(at + 3);
  return out;
}

const KEPT = 64;

/**
 * The last states. A moment is shown a little after it was computed, so that there are two states
 * around it; a run that stands still shows its last one exactly.
 */
export class Buffer {
  private states: State[] = [];
  private offset = 0;
  private interval = 0.1;

  constructor(private readonly layout: Layout) {}

  get last(): State | undefined {
    return this.states[this.states.length - 1];
  }

  clear(): void {
    this.states = [];
  }

  /** Take a state that arrived at a wall time, s. */
  take(state: State, now: number): void {
    const last = this.last;
    if (last && (state.run !== last.run || state.time < last.time)) this.states = [];
    if (last && state.time === last.time && state.run === last.run) this.states.pop();
    const previous = this.last;
    if (previous && state.speed > 0) {
      const wall = (state.time - previous.time) / state.speed;
      this.interval += 0.2 * (Math.min(wall, 1) - this.interval);
      // the earliest that a state of this time was ever here, forgotten slowly
      const offset = now - state.time / state.speed;
      this.offset =
        this.states.length < 2 || Math.abs(offset - this.offset) > 1 || last?.speed !== state.speed
          ? offset
          : Math.min(offset, this.offset + 0.002);
    } else if (state.speed > 0) {
      this.offset = now - state.time / state.speed;
    }
    this.states.push(state);
    if (this.states.length > KEPT) this.states.shift();
  }

  /** Numbers at a simulated time; undefined where no states are kept around it. */
  moment(time: number): Float32Array | undefined {
    const after = this.states.findIndex((s) => s.time >= time - 1e-9);
    const b = this.states[after];
    if (!b) return undefined;
    if (Math.abs(b.time - time) < 1e-6) return b.numbers;
    const a = this.states[after - 1];
    return a && between(a, b, (time - a.time) / (b.time - a.time), this.layout);
  }

  /** Numbers of the states after a simulated time, up to another. */
  passed(after: number, until: number): Float32Array[] {
    return this.states.filter((s) => s.time > after && s.time <= until).map((s) => s.numbers);
  }

  /** Time and numbers to be shown at a wall time, s. */
  at(now: number): { time: number; numbers: Float32Array } | undefined {
    const last = this.last;
    if (!last) return undefined;
    const shown = (now - this.offset - 1.3 * this.interval) * last.speed;
    if (!last.playing || last.speed <= 0 || shown >= last.time || this.states.length < 2) {
      return { time: last.time, numbers: last.numbers };
    }
    let i = this.states.length - 2;
    while (i > 0 && this.states[i]!.time > shown) i--;
    const a = this.states[i]!;
    const b = this.states[i + 1]!;
    const share = Math.min(Math.max((shown - a.time) / (b.time - a.time || 1), 0), 1);
    return { time: a.time + share * (b.time - a.time), numbers: between(a, b, share, this.layout) };
  }
}

/** Roll, pitch, yaw, rad, of a quaternion, scalar first. */
export function euler(q: ArrayLike<number>): [number, number, number] {
  const [w, x, y, z] = [q[0] ?? 1, q[1] ?? 0, q[2] ?? 0, q[3] ?? 0];
  return [
    Math.atan2(2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    -Math.asin(Math.min(Math.max(2 * (x * z - w * y), -1), 1)),
    Math.atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)),
  ];
}

/** Base64 of little-endian numbers. */
export function numbersOf(text: string): ArrayBuffer {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return bytes.buffer;
}

export function vehicleIndex(vehicles: VehicleCard[], name: string | null): number {
  return Math.max(
    vehicles.findIndex((v) => v.name === name),
    0,
  );
}
