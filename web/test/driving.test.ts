import { describe, expect, it } from "vitest";

import { Driver } from "../src/driving";
import { readLink, writeLink } from "../src/link";
import type { Stick } from "../src/messages";

describe("a driver", () => {
  it("sends nothing before a key is touched, then what changed, and a stop at the end", () => {
    const sent: Stick[] = [];
    const driver = new Driver((s) => sent.push(s), () => "otter");
    driver.update(1000);
    expect(sent).toEqual([]);
    driver.key("KeyW", true);
    driver.key("KeyD", true);
    driver.update(2000);
    driver.update(3000);
    driver.letGo();
    driver.update(4000);
    expect(sent.map((s) => [s.ahead, s.starboard])).toEqual([[1, 1], [0, 0]]);
  });

  it("does not send more often than it may", () => {
    const sent: Stick[] = [];
    const driver = new Driver((s) => sent.push(s), () => "otter");
    for (let ms = 0; ms < 1000; ms += 5) {
      driver.stick = { ahead: ms / 1000, starboard: 0, dive: 0 };
      driver.update(1000 + ms);
    }
    expect(sent.length).toBeGreaterThan(5);
    expect(sent.length).toBeLessThan(14);
  });

  it("hears a gamepad until it is let go, and a key meanwhile", () => {
    const sent: Stick[] = [];
    const driver = new Driver((s) => sent.push(s), () => "otter");
    let now = 1000;
    const hear = (ahead: number | null) => {
      driver.hear(ahead === null ? null : { ahead, starboard: 0, dive: 0 });
      driver.update((now += 1000));
    };
    hear(0);
    hear(0.7);
    hear(0); // it sprang back from one picture to the next
    driver.key("KeyW", true);
    hear(0);
    driver.key("KeyW", false);
    hear(0.5);
    hear(null); // unplugged
    expect(sent.map((s) => s.ahead)).toEqual([0.7, 0, 1, 0.5, 0]);
  });

  it("lets the stick of a vehicle go when another one is chosen", () => {
    const sent: Stick[] = [];
    let chosen = "one";
    const driver = new Driver((s) => sent.push(s), () => chosen);
    driver.key("KeyW", true);
    driver.update(1000);
    chosen = "two";
    driver.change();
    driver.update(2000);
    driver.key("KeyW", true);
    driver.update(3000);
    expect(sent.map((s) => [s.vehicle, s.ahead])).toEqual([["one", 1], ["one", 0], ["two", 1]]);
    driver.update(4000, { ahead: 0, starboard: 0, dive: 0 }); // the keys fly a free camera now
    expect(sent[3]).toMatchObject({ vehicle: "two", ahead: 0 });
  });

  it("leaves keys alone that are not its own", () => {
    expect(new Driver(() => undefined, () => "").key("KeyQ", true)).toBe(false);
  });
});

describe("a link", () => {
  it("restores the view", () => {
    const eye = { kind: "free" as const, around: 1.25, above: -0.3, distance: 42, at: [1.5, -2, 30] as [number, number, number] };
    const view = { vehicle: "a b", eye, sun: "noon", time: 12.5, sensor: "sonar 1" };
    expect(readLink(`#${writeLink(view)}`)).toEqual(view);
  });

  it("says nothing where it is wrong", () => {
    expect(readLink("#camera=nowhere&distance=far&time=")).toEqual({});
  });
});
