// Cards as the server sends them, for the tests.

import type { ChannelCard, Hello, SensorCard, VehicleCard } from "../src/messages";

export function vehicle(name: string, changes: Partial<VehicleCard> = {}): VehicleCard {
  return {
    name,
    kind: "otter",
    craft: "surface",
    length: 2,
    beam: 1,
    height: 0.4,
    channels: [],
    faults: [],
    legs: [],
    fence: [],
    autopilot: false,
    suite: 0,
    hull: null,
    fields: [],
    ...changes,
  };
}

export function channel(name: string, changes: Partial<ChannelCard> = {}): ChannelCard {
  return { name, unit: "rad", low: -1, high: 1, kind: "fin", position: [0, 0, 0], axis: [0, 0, 1], size: 0.3, ...changes };
}

export function sensor(type: string, changes: Partial<SensorCard> = {}): SensorCard {
  return {
    name: type,
    type,
    components: [],
    units: [],
    rate: 10,
    position: [0, 0, 0],
    orientation: [1, 0, 0, 0],
    facts: {},
    payload: "",
    shape: [],
    unit: "",
    ...changes,
  };
}

export function hello(vehicles: VehicleCard[], bodies = 0): Hello {
  return { vehicles, bodies: Array.from({ length: bodies }, () => ({ moves: true })) } as unknown as Hello;
}
