// A small chart of the surroundings, north up: depths, bodies, plans, vehicles and a scale.

import { element } from "./dom";
import type { BodyCard, Hello } from "./messages";
import { pathOf } from "./scene/plan";
import { colourOf } from "./scene/vehicles";
import { euler, type Layout, numbersOf } from "./state";

const SIZE = 176;

/** Colour of a depth, light where it is shallow; land is ochre. */
export function depthColour(depth: number, deepest: number): [number, number, number] {
  if (depth <= 0) return [176, 160, 110];
  const share = Math.min(depth / Math.max(deepest, 1), 1) ** 0.6;
  return [186 - 168 * share, 216 - 148 * share, 226 - 106 * share];
}

/** The round length (1, 2 or 5 times a power of ten) that is at most so long. */
export function roundLength(most: number): number {
  const ten = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].map((n) => n * ten).find((n) => n <= most) ?? ten;
}

/** What a body covers, seen from above: all its triangles. */
function outlineOf(body: BodyCard): Path2D {
  const places = new Float32Array(numbersOf(body.vertices));
  const faces = new Uint32Array(numbersOf(body.faces));
  const path = new Path2D();
  for (let i = 0; i < faces.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => {
      const at = 3 * faces[i + k]!;
      return [places[at + 1]!, -places[at]!] as const;
    });
    // all in one sense, so that one over another does not cut a hole
    const turned = (b![0] - a![0]) * (c![1] - a![1]) < (b![1] - a![1]) * (c![0] - a![0]);
    path.moveTo(...a!);
    path.lineTo(...(turned ? c! : b!));
    path.lineTo(...(turned ? b! : c!));
    path.closePath();
  }
  return path;
}

function css(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}

export class MiniMap {
  readonly canvas = element("canvas", {
    id: "minimap",
    tabindex: "0",
    role: "img",
    "aria-label": "map, north up; + and − zoom",
    title: "map, north up: wheel, + and − zoom",
  });
  /** Half of its width, m. */
  half: number;
  private readonly g: CanvasRenderingContext2D;
  private bottom: HTMLCanvasElement | null;
  /** Bodies as seen from above, m, east to the right and north up. */
  private readonly outlines: Path2D[];
  private drawn = 0;

  constructor(
    private readonly hello: Hello,
    private readonly layout: Layout,
  ) {
    const ratio = Math.min(window.devicePixelRatio, 2);
    this.canvas.width = this.canvas.height = SIZE * ratio;
    this.g = this.canvas.getContext("2d")!;
    this.g.scale(ratio, ratio);
    this.half = Math.max(40, 20 * Math.max(...hello.vehicles.map((v) => v.length)));
    this.bottom = this.paintBottom();
    this.outlines = hello.bodies.map(outlineOf);
    this.canvas.addEventListener(
      "wheel",
      (e) => {
        e.preventDefault();
        this.zoom(Math.exp(0.0015 * e.deltaY));
      },
      { passive: false },
    );
    this.canvas.addEventListener("keydown", (e) => {
      if (e.key === "+") this.zoom(0.8);
      else if (e.key === "-") this.zoom(1.25);
    });
  }

  /** The bottom is another part of its map now. */
  repaint(): void {
    this.bottom = this.paintBottom();
    this.drawn = 0;
  }

  private zoom(factor: number): void {
    this.half = Math.min(Math.max(this.half * factor, 5), 20000);
    this.drawn = 0;
  }

  private paintBottom(): HTMLCanvasElement | null {
    const card = this.hello.bottom;
    if (!card) return null;
    const depths = new Float32Array(numbersOf(card.depth));
    let deepest = 1;
    for (const depth of depths) if (depth > deepest) deepest = depth;
    const step = roundLength(deepest / 5);
    const canvas = element("canvas");
    canvas.width = card.columns;
    canvas.height = card.rows;
    const g = canvas.getContext("2d")!;
    const image = g.createImageData(card.columns, card.rows);
    for (let i = 0; i < card.rows; i++) {
      for (let j = 0; j < card.columns; j++) {
        const depth = depths[i * card.columns + j]!;
        const next = [depths[i * card.columns + j + 1], depths[(i + 1) * card.columns + j]];
        const line = next.some((d) => d !== undefined && Math.floor(d / step) !== Math.floor(depth / step));
        const shade = line && depth > 0 ? 0.72 : 1;
        const [r, green, b] = depthColour(depth, deepest);
        image.data.set([r * shade, green * shade, b * shade, 255], 4 * ((card.rows - 1 - i) * card.columns + j));
      }
    }
    g.putImageData(image, 0, 0);
    return canvas;
  }

  /** Four times a second; the track of the selected vehicle is north, height and east by turns. */
  draw(numbers: Float32Array, selected: number, track: Float32Array, now: number): void {
    if (now - this.drawn < 0.25 || !this.canvas.clientWidth) return;
    this.drawn = now;
    const { g, half } = this;
    const [north, east] = this.layout.of(numbers, selected, "position") as unknown as [number, number];
    const scale = SIZE / (2 * half);
    const x = (e: number) => SIZE / 2 + (e - east) * scale;
    const y = (n: number) => SIZE / 2 - (n - north) * scale;
    g.fillStyle = this.hello.bottom ? "#16303d" : css(0x123a52);
    g.fillRect(0, 0, SIZE, SIZE);
    const card = this.hello.bottom;
    if (card && this.bottom) {
      const [high, wide] = [card.spacing[0] * card.rows, card.spacing[1] * card.columns];
      g.imageSmoothingEnabled = true;
      g.drawImage(this.bottom, x(card.origin[1]), y(card.origin[0] + high), wide * scale, high * scale);
    }
    const stroke = (points: (readonly [number, number])[], colour: string, dashes: number[]) => {
      g.strokeStyle = colour;
      g.setLineDash(dashes);
      g.beginPath();
      points.forEach(([n, e], i) => (i ? g.lineTo(x(e), y(n)) : g.moveTo(x(e), y(n))));
      g.stroke();
      g.setLineDash([]);
    };
    g.fillStyle = "#a89a80";
    let moving = 0;
    this.hello.bodies.forEach((body, i) => {
      const at = body.moves ? this.layout.bodies + 7 * moving++ : -1;
      const [n, e] = at < 0 ? body.position : [numbers[at]!, numbers[at + 1]!];
      const yaw = euler(at < 0 ? body.attitude : numbers.subarray(at + 3, at + 7))[2];
      g.fillRect(x(e) - 1, y(n) - 1, 2, 2);
      g.save();
      g.translate(x(e), y(n));
      g.rotate(yaw);
      g.scale(scale, scale);
      g.fill(this.outlines[i]!);
      g.restore();
    });
    this.hello.vehicles.slice(0, 20).forEach((vehicle, i) => {
      const { fence } = vehicle;
      if (fence.length) stroke([...fence, fence[0]!], "#ff5c5c", []);
      const path = pathOf(vehicle).map(([n, e]) => [n, e] as const);
      if (path.length > 1) stroke(path, css(colourOf(i)), [3, 3]);
    });
    const passed = Array.from({ length: track.length / 3 }, (_, i) => [track[3 * i]!, track[3 * i + 2]!] as const);
    stroke([...passed, [north, east]], css(colourOf(selected)), []);
    this.hello.vehicles.forEach((_, i) => {
      const p = this.layout.of(numbers, i, "position");
      const yaw = euler(this.layout.of(numbers, i, "attitude"))[2];
      g.save();
      g.translate(x(p[1]!), y(p[0]!));
      g.rotate(yaw);
      g.fillStyle = css(colourOf(i));
      const r = i === selected ? 6 : 3.5;
      g.beginPath();
      g.moveTo(0, -1.3 * r);
      g.lineTo(0.75 * r, r);
      g.lineTo(-0.75 * r, r);
      g.fill();
      g.restore();
    });
    this.scaleBar(scale);
  }

  private scaleBar(scale: number): void {
    const { g } = this;
    const length = roundLength((0.45 * SIZE) / scale);
    g.fillStyle = "rgba(6, 18, 26, 0.72)";
    g.fillRect(4, SIZE - 22, length * scale + 12, 18);
    g.fillStyle = "#e6eff4";
    g.fillRect(10, SIZE - 8, length * scale, 2);
    g.font = "10px system-ui, sans-serif";
    g.fillText(length >= 1000 ? `${length / 1000} km` : `${length} m`, 10, SIZE - 11);
    g.fillText("N", SIZE - 14, 14);
  }
}
