// Written by `python -m seatrial.viewer.typescript`; change messages.py instead.

export const SLOWEST = 0.1;
export const FASTEST = 100;

export const HEAD = {
  time: 0,
  sequence: 8,
  run: 12,
  speed: 16,
  flags: 20,
} as const;
export const HEAD_BYTES = 24;
export const FLAGS = {
  playing: 1,
  ended: 2,
} as const;

/** Consecutive numbers of a vehicle in a state. */
export interface Part {
  name: string;
  size: number;
}

/** A command channel of a vehicle, and what it moves where: see `ActuatorInfo`. */
export interface ChannelCard {
  name: string;
  unit: string;
  low: number;
  high: number;
  kind: string;
  position: [number, number, number];
  axis: [number, number, number];
  size: number;
}

/** A sensor: see `SensorInfo`. `payload` is the kind of its array, empty without one. */
export interface SensorCard {
  name: string;
  type: string;
  components: string[];
  units: string[];
  rate: number;
  position: [number, number, number];
  orientation: [number, number, number, number];
  facts: Record<string, number[]>;
  payload: string;
  shape: number[];
  unit: string;
}

/** A leg of a mission. */
export interface LegCard {
  name: string;
  kind: string;
  start: [number, number, number];
  end: [number, number, number];
  acceptance: number;
}

/** A vehicle as the page needs to know it. */
export interface VehicleCard {
  name: string;
  kind: string;
  craft: string;
  length: number;
  beam: number;
  height: number;
  channels: ChannelCard[];
  faults: string[];
  legs: LegCard[];
  fence: [number, number][];
  autopilot: boolean;
  suite: number;
  hull: number | null;
  fields: Part[];
}

/** Triangles of a hull in body axes; `form` is `file`, or what it was made from. */
export interface HullCard {
  form: string;
  vertices: string;
  faces: string;
}

/** The surface: the sum of a cos(ω t − k (x cos μ + y sin μ) + ε). */
export interface WavesCard {
  amplitude: number[];
  omega: number[];
  wavenumber: number[];
  direction: number[];
  phase: number[];
}

/** The weather in a few numbers, SI; directions are those towards which waves, air and water go, rad from north through east. */
export interface WeatherCard {
  wave_height: number;
  wave_period: number;
  wave_towards: number;
  wind_speed: number;
  wind_towards: number;
  current_speed: number;
  current_towards: number;
  visibility: number;
}

/** Depths at the nodes of a grid towards north (rows) and east. */
export interface BottomCard {
  origin: [number, number];
  spacing: [number, number];
  rows: number;
  columns: number;
  depth: string;
}

/** A body of the world; one that moves is told with every state, in this order. */
export interface BodyCard {
  name: string;
  kind: string;
  material: string;
  moves: boolean;
  position: [number, number, number];
  attitude: [number, number, number, number];
  vertices: string;
  faces: string;
}

/** Everything that is known before the first state. */
export interface Hello {
  type: "hello";
  mode: "live" | "playback";
  control: boolean;
  role: string;
  may: string[];
  outside: boolean;
  scenario: string;
  seed: number;
  start: number;
  duration: number;
  frame_period: number;
  statuses: string[];
  outcomes: string[];
  vehicles: VehicleCard[];
  suites: SensorCard[][];
  hulls: HullCard[];
  waves: WavesCard | null;
  water_depth: number | null;
  bottom: BottomCard | null;
  bodies: BodyCard[];
  wind_speed: number;
  weather: WeatherCard | null;
  visibility: number;
}

/** The sea as it is now, told while it changes. `weather` is what it becomes. */
export interface Sea {
  type: "sea";
  time: number;
  waves: WavesCard | null;
  wind_speed: number;
  wind_towards: number;
  visibility: number;
  weather: WeatherCard | null;
}

/** Another part of a map than the one in `Hello`, told when vehicles have come to it. */
export interface Bottom {
  type: "bottom";
  bottom: BottomCard;
}

/** Something that happened, or that somebody did. */
export interface Event {
  type: "event";
  run: number;
  time: number;
  vehicle: string;
  text: string;
  kind: "event" | "fault" | "act";
  who: string;
}

/** Why a request was not obeyed. */
export interface Refused {
  type: "refused";
  text: string;
}

/** How many pages watch this run. */
export interface Seats {
  type: "seats";
  viewers: number;
}

/** The array of a dense sensor, thinned out. `points`: rows of x, y, z (m, sensor's axes) and intensity, single precision. `raster`: bytes, 0 for nothing and 1 to 255 from low to high, rows by columns, one array after the other where several samples came at once. `photo`: a JPEG file. */
export interface Picture {
  form: "points" | "raster" | "photo";
  rows: number;
  columns: number;
  low: number;
  high: number;
  data: string;
}

/** What a sensor measured since the last message; a value that is not there is null. */
export interface Samples {
  type: "samples";
  run: number;
  vehicle: string;
  sensor: string;
  times: number[];
  values: ((number | null)[])[];
  picture: Picture | null;
}

/** All of a recording of one vehicle, thinned out: times (double precision), and behind each other the numbers of the vehicle's `fields` at each of them (single). */
export interface History {
  type: "history";
  vehicle: string;
  times: string;
  numbers: string;
}

/** Go on. */
export interface Play {
  type: "play";
}

/** Stand still. */
export interface Pause {
  type: "pause";
}

/** One frame further. */
export interface Step {
  type: "step";
}

/** Back to the start, with another seed where one is given. */
export interface Reset {
  type: "reset";
  seed?: number | null;
}

/** Simulated over wall time. */
export interface Speed {
  type: "speed";
  factor: number;
}

/** To a time of a recording, s. */
export interface Seek {
  type: "seek";
  time: number;
}

/** Orders by channel, SI. */
export interface Channels {
  type: "channels";
  vehicle: string;
  values: Record<string, number>;
}

/** A stick pushed ahead and to starboard, each −1 to 1; zero and zero is a stop. */
export interface Stick {
  type: "stick";
  vehicle: string;
  ahead: number;
  starboard: number;
  dive?: number;
}

/** Go to a place, north and east, at a speed, m/s. */
export interface Waypoint {
  type: "waypoint";
  vehicle: string;
  north: number;
  east: number;
  surge: number;
}

/** Give a vehicle back to its own timetable, manoeuvre or pilot. */
export interface Release {
  type: "release";
  vehicle: string;
}

/** Strike with a fault that the scenario describes, or call it off. */
export interface SetFault {
  type: "fault";
  vehicle: string;
  fault: string;
  on: boolean;
}

/** Other weather; what is left out stays. A sea state of the WMO is a height and a period. */
export interface SetWeather {
  type: "weather";
  sea_state?: number | null;
  wave_height?: number | null;
  wave_period?: number | null;
  wave_towards?: number | null;
  wind_speed?: number | null;
  wind_towards?: number | null;
  current_speed?: number | null;
  current_towards?: number | null;
  visibility?: number | null;
}

/** Look at a sensor of a vehicle from now on; at none without a name. */
export interface Watch {
  type: "watch";
  vehicle: string;
  sensor?: string;
}

/** Ask for the `History` of a vehicle; a live run has none. */
export interface Recall {
  type: "recall";
  vehicle: string;
}

export type Request =
  | Play
  | Pause
  | Step
  | Reset
  | Speed
  | Seek
  | Channels
  | Stick
  | Waypoint
  | Release
  | SetFault
  | SetWeather
  | Watch
  | Recall;
