// Pictures of dense sensors on a canvas: fans, all-round screens, waterfalls, photos and clouds.

import { element } from "../dom";
import type { SensorCard } from "../messages";
import { roundLength } from "../minimap";

/** A raster of shades, 0 for nothing, 1 to 255 from `low` to `high`. */
export interface Raster {
  rows: number;
  columns: number;
  low: number;
  high: number;
  shades: Uint8Array;
}

/** One ping of several, each with the levels that its shades stand for. */
interface Ping {
  shades: Uint8Array;
  low: number;
  high: number;
}

type Colour = [number, number, number];
type Ramp = Colour[];
const AMBER: Ramp = [[4, 6, 10], [70, 34, 8], [186, 106, 24], [255, 196, 92], [255, 248, 220]];
const GREEN: Ramp = [[2, 10, 8], [6, 60, 44], [30, 150, 90], [160, 240, 150], [250, 255, 220]];
const DEPTH: Ramp = [[255, 245, 190], [248, 160, 70], [190, 60, 90], [80, 30, 120], [14, 14, 50]];
const NOTHING: Colour = [8, 16, 24];

export function rampOf(type: string): Ramp {
  if (type === "depth_camera" || type === "camera") return DEPTH;
  return type === "radar_image" ? GREEN : AMBER;
}

/** Colours of all shades; echoes of sonars are mostly strong ones, which are told apart better so. */
export function palette(ramp: Ramp): Uint8ClampedArray {
  const bend = ramp === AMBER ? 1.9 : 1;
  const table = new Uint8ClampedArray(4 * 256);
  table.set([...NOTHING, 255]);
  for (let shade = 1; shade < 256; shade++) {
    const at = ((shade - 1) / 254) ** bend * (ramp.length - 1);
    const i = Math.min(Math.floor(at), ramp.length - 2);
    const mixed = [0, 1, 2].map((c) => ramp[i]![c]! + (at - i) * (ramp[i + 1]![c]! - ramp[i]![c]!));
    table.set([...mixed, 255], 4 * shade);
  }
  return table;
}

/**
 * Which cell of a polar raster (beams by ranges) lies at a pixel, −1 for none. The apex is at
 * (`cx`, `cy`), x ahead is up; `reach` pixels are the whole range.
 */
export function polarCell(
  x: number,
  y: number,
  apex: [number, number],
  reach: number,
  first: number,
  last: number,
  rows: number,
  columns: number,
): number {
  const [ahead, aside] = [apex[1] - y, x - apex[0]];
  const r = Math.hypot(ahead, aside) / reach;
  if (r >= 1) return -1;
  let angle = Math.atan2(aside, ahead);
  if (angle < first) angle += 2 * Math.PI;
  const span = last - first;
  const whole = span > 2 * Math.PI - 0.1;
  const step = span / (whole ? rows : Math.max(rows - 1, 1));
  const row = Math.round((angle - first) / step);
  if (row < 0 || (row >= rows && !whole)) return -1;
  return (row % rows) * columns + Math.min(Math.floor(r * columns), columns - 1);
}

/** The levels between which pings from several messages are shown together. */
export function commonLevels(pings: { low: number; high: number }[]): [number, number] {
  const n = Math.max(pings.length, 1);
  return [pings.reduce((sum, p) => sum + p.low, 0) / n, pings.reduce((sum, p) => sum + p.high, 0) / n];
}

/** A shade between other levels than those that it was told for; nothing stays nothing. */
export function shadeBetween(shade: number, own: { low: number; high: number }, low: number, high: number): number {
  if (!shade) return 0;
  const level = own.low + ((shade - 1) / 254) * (own.high - own.low);
  const share = Math.min(Math.max((level - low) / Math.max(high - low, 1e-9), 0), 1);
  return 1 + Math.round(254 * share);
}

/** The next round number that is no less: pictures do not change their scale with every sample. */
export function roundAbove(value: number): number {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ten * ([1, 1.5, 2, 3, 4, 5, 6, 8].find((n) => n * ten >= value) ?? 10);
}

/** Distances at which rings or lines are drawn: round ones, five at most. */
export function ticksOf(range: number): number[] {
  const step = roundLength(range / 2);
  return Array.from({ length: Math.floor(range / step + 1e-6) }, (_, i) => (i + 1) * step);
}

const metres = (distance: number) => `${Number(distance.toPrecision(3))} m`;
const WIDTH = 288;
/** Pixels of the canvas for one of the picture: letters stay sharp on fine screens. */
const FINE = 2;
const LINE = "rgba(160, 220, 255, 0.4)";

/** Keeps what comes ping by ping, and draws. */
export class SensorPicture {
  private readonly table: Uint8ClampedArray;
  private readonly g: CanvasRenderingContext2D;
  private readonly cells = element("canvas");
  private pings: Ping[] = [];
  private around: (Ping | undefined)[] = [];
  private latest: HTMLImageElement | null = null;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly card: SensorCard,
  ) {
    this.table = palette(rampOf(card.type));
    this.g = canvas.getContext("2d")!;
  }

  /** How far it hears, m; 0 where the card does not tell. */
  private get range(): number {
    return (this.card.facts["bin_width"]?.[0] ?? 0) * (this.card.shape[1] ?? 0);
  }

  /** The latest of what a raster sensor sent; `pings` of it are new. */
  raster(raster: Raster, pings: number, values: (number | null)[][]): void {
    const size = raster.rows * raster.columns;
    const { low, high } = raster;
    const ping = (i: number) => ({ shades: raster.shades.subarray(i * size, (i + 1) * size), low, high });
    const most = this.card.type === "side_scan" ? 200 : WIDTH;
    switch (this.card.type) {
      case "side_scan":
      case "echo_sounder":
        for (let i = 0; i < pings; i++) this.pings.unshift(ping(i));
        this.pings.length = Math.min(this.pings.length, most);
        if (this.card.type === "side_scan") this.waterfall(raster.columns);
        else this.echogram(raster.columns);
        break;
      case "mechanical_sonar":
        this.turn(raster.columns, Array.from({ length: pings }, (_, i) => ping(i)), values);
        break;
      case "imaging_sonar": {
        const bearings = this.card.facts["bearings"] ?? [-1, 1];
        const [first, last] = [bearings[0]!, bearings[bearings.length - 1]!];
        this.polar(raster.rows, raster.columns, first, last, (cell) => raster.shades[cell]!);
        break;
      }
      case "radar_image":
        this.polar(raster.rows, raster.columns, 0, 2 * Math.PI, (cell) => raster.shades[cell]!);
        break;
      default:
        this.depths(raster);
    }
  }

  /** A JPEG file, drawn when it is decoded; of several that are on their way the last. */
  photo(data: string): void {
    const image = new Image();
    this.latest = image;
    image.onload = () => {
      if (this.latest !== image) return;
      this.canvas.width = image.width;
      this.canvas.height = image.height;
      this.g.drawImage(image, 0, 0);
    };
    image.src = `data:image/jpeg;base64,${data}`;
  }

  /** Fit the canvas to a picture so wide and high, and draw in its pixels. */
  private fit(width: number, height: number): void {
    if (this.canvas.width !== width * FINE || this.canvas.height !== height * FINE) {
      this.canvas.width = width * FINE;
      this.canvas.height = height * FINE;
    }
    this.g.setTransform(FINE, 0, 0, FINE, 0, 0);
  }

  private image(width: number, height: number, shade: (x: number, y: number) => number, high = height): void {
    this.cells.width = width;
    this.cells.height = height;
    const brush = this.cells.getContext("2d")!;
    const picture = brush.createImageData(width, height);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const s = 4 * Math.max(shade(x, y), 0);
        picture.data.set(this.table.subarray(s, s + 4), 4 * (y * width + x));
      }
    }
    brush.putImageData(picture, 0, 0);
    this.fit(WIDTH, high);
    this.g.drawImage(this.cells, 0, 0, WIDTH, high);
  }

  /** Words that can be read on any picture. */
  private write(text: string, x: number, y: number, align: CanvasTextAlign = "left"): void {
    const { g } = this;
    g.font = "10px system-ui, sans-serif";
    g.textAlign = align;
    g.lineWidth = 3;
    g.lineJoin = "round";
    g.strokeStyle = "rgba(4, 12, 18, 0.85)";
    g.strokeText(text, x, y);
    g.fillStyle = "#d8eefa";
    g.fillText(text, x, y);
    g.lineWidth = 1;
  }

  private line(x0: number, y0: number, x1: number, y1: number): void {
    const { g } = this;
    g.strokeStyle = LINE;
    g.beginPath();
    g.moveTo(x0, y0);
    g.lineTo(x1, y1);
    g.stroke();
  }

  /** Rings of range with their distances, ahead up; `half` of a turn to either side of `from`. */
  private rings(apex: [number, number], scale: number, range: number, half = Math.PI, from = -Math.PI / 2): void {
    const { g } = this;
    for (const distance of range ? ticksOf(range) : []) {
      g.strokeStyle = LINE;
      g.beginPath();
      g.arc(apex[0], apex[1], distance * scale - 0.5, from - half, from + half);
      g.stroke();
      const up = from < 0 ? -1 : 1;
      this.write(metres(distance), apex[0] + 4, apex[1] + up * distance * scale + (up < 0 ? 11 : -4));
    }
  }

  /** What the colours mean, along the lower edge. */
  private scale(low: string, high: string, colour: (share: number) => string): void {
    const { g } = this;
    const y = this.canvas.height / FINE - 9;
    for (let i = 0; i < 100; i++) {
      g.fillStyle = colour(i / 99);
      g.fillRect(WIDTH / 2 - 50 + i, y, 1.2, 5);
    }
    this.write(low, WIDTH / 2 - 54, y + 6, "right");
    this.write(high, WIDTH / 2 + 55, y + 6);
  }

  private depths(raster: Raster): void {
    const high = Math.round((WIDTH * raster.rows) / raster.columns);
    this.image(raster.columns, raster.rows, (x, y) => raster.shades[y * raster.columns + x]!, high);
    this.scale(metres(raster.low), metres(raster.high), (share) => {
      const s = 4 * (1 + Math.round(254 * share));
      return `rgb(${[...this.table.subarray(s, s + 3)].join(" ")})`;
    });
  }

  private polar(rows: number, columns: number, first: number, last: number, shade: (cell: number) => number): void {
    const half = Math.min(0.5 * (last - first), Math.PI);
    const whole = half > 2;
    const reach = whole ? 142 : 140 / Math.max(Math.sin(Math.min(half, Math.PI / 2)), 0.55);
    const height = whole ? WIDTH : Math.round(reach + 6 + (half > Math.PI / 2 ? -reach * Math.cos(half) : 0));
    const apex: [number, number] = [WIDTH / 2, whole ? WIDTH / 2 : Math.round(reach + 2)];
    this.image(WIDTH, height, (x, y) => {
      const cell = polarCell(x + 0.5, y + 0.5, apex, reach, first, last, rows, columns);
      return cell < 0 ? 0 : shade(cell);
    });
    if (this.range) this.rings(apex, reach / this.range, this.range, whole ? Math.PI : half);
  }

  private turn(columns: number, pings: Ping[], values: (number | null)[][]): void {
    const step = this.card.facts["step"]?.[0] ?? 0.1;
    const sector = this.card.facts["sector"]?.[0] ?? 2 * Math.PI;
    const rows = Math.max(Math.round(sector / step), 2);
    const at = this.card.components.indexOf("bearing");
    values.slice(-pings.length).forEach((row, i) => {
      const k = Math.round(((row[at] ?? 0) + 0.5 * sector) / step) % rows;
      this.around[(k + rows) % rows] = pings[i];
    });
    const [low, high] = commonLevels(this.around.filter((p) => p !== undefined));
    this.polar(rows, columns, -0.5 * sector, 0.5 * sector, (cell) => {
      const ping = this.around[Math.floor(cell / columns)];
      return ping ? shadeBetween(ping.shades[cell % columns]!, ping, low, high) : 0;
    });
  }

  /** Port to the left, starboard to the right, the newest ping on top. */
  private waterfall(n: number): void {
    const half = WIDTH / 2;
    const [low, high] = commonLevels(this.pings);
    this.image(WIDTH, 200, (x, y) => {
      const ping = this.pings[y];
      if (!ping) return 0;
      const [side, from] = x < half ? [0, half - 1 - x] : [1, x - half];
      return shadeBetween(ping.shades[side * n + Math.floor((from * n) / half)]!, ping, low, high);
    });
    for (const distance of this.range ? ticksOf(this.range) : []) {
      for (const side of [-1, 1]) {
        const x = half + (side * half * distance) / this.range;
        this.line(x, 0, x, 200);
        this.write(metres(distance), x - 3 * side, 195, side < 0 ? "left" : "right");
      }
    }
    this.write("port", 4, 11);
    this.write("starboard", WIDTH - 4, 11, "right");
  }

  /** Farther is lower, the newest ping at the right. */
  private echogram(bins: number): void {
    const [low, high] = commonLevels(this.pings);
    this.image(WIDTH, 160, (x, y) => {
      const ping = this.pings[WIDTH - 1 - x];
      return ping ? shadeBetween(ping.shades[Math.floor((y * bins) / 160)]!, ping, low, high) : 0;
    });
    for (const distance of this.range ? ticksOf(this.range) : []) {
      const y = (160 * distance) / this.range;
      this.line(0, y, WIDTH, y);
      this.write(metres(distance), 4, y - 4);
    }
  }

  /** Points seen from above (x ahead is up), or of a multibeam from astern. */
  points(cloud: Float32Array): void {
    const { g } = this;
    const across = this.card.type === "multibeam";
    const height = across ? 150 : 240;
    this.fit(WIDTH, height);
    let most = 1;
    for (let i = 0; i < cloud.length; i += 4) {
      most = Math.max(most, Math.abs(cloud[i + 1]!), across ? cloud[i + 2]! : Math.abs(cloud[i]!));
    }
    most = roundAbove(most);
    const scale = (across ? 140 : 116) / most;
    const [cx, cy] = [WIDTH / 2, across ? 4 : 120];
    g.fillStyle = `rgb(${NOTHING.join(" ")})`;
    g.fillRect(0, 0, WIDTH, height);
    // below the sensor is down
    let [least, deepest] = [Infinity, -Infinity];
    for (let i = 2; i < cloud.length; i += 4) {
      least = Math.min(least, cloud[i]!);
      deepest = Math.max(deepest, cloud[i]!);
    }
    const shade = (share: number) => `hsl(${Math.round(50 + 190 * share)} 90% 62%)`;
    for (let i = 0; i < cloud.length; i += 4) {
      const [x, y, z] = [cloud[i]!, cloud[i + 1]!, cloud[i + 2]!];
      g.fillStyle = shade((z - least) / Math.max(deepest - least, 0.1));
      g.fillRect(cx + y * scale, across ? cy + z * scale : cy - x * scale, 1.5, 1.5);
    }
    this.rings([cx, cy], scale, most, Math.PI, across ? Math.PI / 2 : -Math.PI / 2);
    g.fillStyle = "#ffc53d";
    g.fillRect(cx - 2, cy - 2, 5, 5);
    if (across) {
      this.write("port", 4, 11);
      this.write("starboard", WIDTH - 4, 11, "right");
    } else if (deepest - least > 0.1) {
      const height = (z: number) => `${z < 0 ? "+" : "−"}${Math.abs(z).toFixed(1)} m`;
      this.scale(height(least), height(deepest), shade);
    }
  }
}
