// Pictures of dense sensors on a canvas: fans, all-round screens, waterfalls, photos and clouds.

import type { SensorCard } from "../messages";

/** A raster of shades, 0 for nothing, 1 to 255 from low to high. */
export interface Raster {
  rows: number;
  columns: number;
  shades: Uint8Array;
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

/** Keeps what comes ping by ping, and draws. */
export class SensorPicture {
  private readonly table: Uint8ClampedArray;
  private readonly g: CanvasRenderingContext2D;
  private pings: Uint8Array[] = [];
  private around: Raster | null = null;
  private latest: HTMLImageElement | null = null;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly card: SensorCard,
  ) {
    this.table = palette(rampOf(card.type));
    this.g = canvas.getContext("2d")!;
  }

  /** The latest of what a raster sensor sent; `pings` of it are new. */
  raster(raster: Raster, pings: number, values: (number | null)[][]): void {
    const size = raster.rows * raster.columns;
    switch (this.card.type) {
      case "side_scan":
      case "echo_sounder":
        for (let i = 0; i < pings; i++) this.pings.unshift(raster.shades.subarray(i * size, (i + 1) * size));
        this.pings.length = Math.min(this.pings.length, this.card.type === "side_scan" ? 200 : 288);
        if (this.card.type === "side_scan") this.waterfall(raster);
        else this.echogram(raster.columns);
        break;
      case "mechanical_sonar":
        this.turn(raster, pings, values);
        break;
      case "imaging_sonar": {
        const bearings = this.card.facts["bearings"] ?? [-1, 1];
        this.polar(raster, bearings[0]!, bearings[bearings.length - 1]!);
        break;
      }
      case "radar_image":
        this.polar(raster, 0, 2 * Math.PI);
        break;
      default:
        this.image(raster.columns, raster.rows, (x, y) => raster.shades[y * raster.columns + x]!);
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

  private image(width: number, height: number, shade: (x: number, y: number) => number): void {
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    const picture = this.g.createImageData(width, height);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const s = 4 * Math.max(shade(x, y), 0);
        picture.data.set(this.table.subarray(s, s + 4), 4 * (y * width + x));
      }
    }
    this.g.putImageData(picture, 0, 0);
  }

  private polar(raster: Raster, first: number, last: number): void {
    const width = 288;
    const half = Math.min(0.5 * (last - first), Math.PI);
    const whole = half > 2;
    const reach = whole ? 142 : 140 / Math.max(Math.sin(Math.min(half, Math.PI / 2)), 0.55);
    const height = whole ? 288 : Math.round(reach + 6 + (half > Math.PI / 2 ? -reach * Math.cos(half) : 0));
    const apex: [number, number] = [144, whole ? 144 : Math.round(reach + 2)];
    this.image(width, height, (x, y) => {
      const cell = polarCell(x + 0.5, y + 0.5, apex, reach, first, last, raster.rows, raster.columns);
      return cell < 0 ? 0 : raster.shades[cell]!;
    });
    this.rings(apex, reach, whole ? Math.PI : half);
  }

  /** Rings of range with their distances. */
  private rings(apex: [number, number], reach: number, half: number): void {
    const range = (this.card.facts["bin_width"]?.[0] ?? 0) * (this.card.shape[1] ?? 0);
    if (!range) return;
    const { g } = this;
    g.strokeStyle = g.fillStyle = "rgba(160, 220, 255, 0.55)";
    g.font = "10px system-ui, sans-serif";
    for (const share of [0.5, 1]) {
      g.beginPath();
      g.arc(apex[0], apex[1], share * reach - 1, -Math.PI / 2 - half, -Math.PI / 2 + half);
      g.stroke();
      g.fillText(`${Number((share * range).toPrecision(3))} m`, apex[0] + 4, apex[1] - share * reach + 12);
    }
  }

  private turn(raster: Raster, pings: number, values: (number | null)[][]): void {
    const step = this.card.facts["step"]?.[0] ?? 0.1;
    const sector = this.card.facts["sector"]?.[0] ?? 2 * Math.PI;
    const rows = Math.max(Math.round(sector / step), 2);
    this.around ??= { rows, columns: raster.columns, shades: new Uint8Array(rows * raster.columns) };
    const at = this.card.components.indexOf("bearing");
    values.slice(-pings).forEach((row, i) => {
      const bearing = row[at] ?? 0;
      const k = ((Math.round((bearing + 0.5 * sector) / step) % rows) + rows) % rows;
      this.around!.shades.set(raster.shades.subarray(i * raster.columns, (i + 1) * raster.columns), k * raster.columns);
    });
    this.polar(this.around, -0.5 * sector, 0.5 * sector);
  }

  /** Port to the left, starboard to the right, the newest ping on top. */
  private waterfall(raster: Raster): void {
    const n = raster.columns;
    const half = Math.min(n, 144);
    this.image(2 * half, 200, (x, y) => {
      const ping = this.pings[y];
      if (!ping) return 0;
      const [side, from] = x < half ? [0, half - 1 - x] : [1, x - half];
      return ping[side * n + Math.floor((from * n) / half)]!;
    });
  }

  /** Deeper is lower, the newest ping at the right. */
  private echogram(bins: number): void {
    this.image(288, 160, (x, y) => this.pings[287 - x]?.[Math.floor((y * bins) / 160)] ?? 0);
  }

  /** Points seen from above (x ahead is up), or of a multibeam from astern. */
  points(cloud: Float32Array): void {
    const { canvas, g } = this;
    canvas.width = 288;
    const across = this.card.type === "multibeam";
    canvas.height = across ? 150 : 240;
    let most = 1;
    for (let i = 0; i < cloud.length; i += 4) {
      most = Math.max(most, Math.abs(cloud[i + 1]!), across ? cloud[i + 2]! : Math.abs(cloud[i]!));
    }
    const scale = (across ? 140 : 116) / most;
    const [cx, cy] = [144, across ? 4 : 120];
    g.fillStyle = `rgb(${NOTHING.join(" ")})`;
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.strokeStyle = "rgba(160, 220, 255, 0.3)";
    for (const share of [0.5, 1]) {
      g.beginPath();
      g.arc(cx, cy, share * most * scale, 0, 2 * Math.PI);
      g.stroke();
    }
    for (let i = 0; i < cloud.length; i += 4) {
      const [x, y, z] = [cloud[i]!, cloud[i + 1]!, cloud[i + 2]!];
      const hue = across ? 200 - (160 * z) / most : 200 + 40 * Math.max(Math.min(z, 3), -3);
      g.fillStyle = `hsl(${hue} 90% 62%)`;
      g.fillRect(cx + y * scale, across ? cy + z * scale : cy - x * scale, 1.6, 1.6);
    }
    g.fillStyle = "#ffc53d";
    g.fillRect(cx - 2, cy - 2, 5, 5);
    g.fillStyle = "rgba(160, 220, 255, 0.8)";
    g.font = "10px system-ui, sans-serif";
    g.fillText(`${Number(most.toPrecision(2))} m`, 4, canvas.height - 5);
  }
}
