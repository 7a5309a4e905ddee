// Names of the vehicles over the picture; none lies on another one. Of a swarm only the selected.

import * as THREE from "three";

import type { Hello } from "../messages";
import { colourOf } from "./vehicles";

const MOST = 30;
const HEIGHT = 20;
const HIGHEST = 4;

interface Name {
  label: HTMLElement;
  width: number;
}

export interface Wanted {
  x: number;
  y: number;
  width: number;
  /** From the eye: the nearest has its place first. */
  far: number;
}

/**
 * Where labels go, px: each as near above its place as there is room, the nearest to the eye first;
 * null where there is none within a few lines.
 */
export function spread(wanted: (Wanted | null)[]): ({ x: number; y: number } | null)[] {
  const found: ({ x: number; y: number } | null)[] = wanted.map(() => null);
  const taken: { x: number; y: number; width: number }[] = [];
  const order = wanted.flatMap((w, i) => (w ? [i] : [])).sort((a, b) => wanted[a]!.far - wanted[b]!.far);
  for (const i of order) {
    const { x, y, width } = wanted[i]!;
    for (let line = 0; line < HIGHEST; line++) {
      const at = { x, y: y - line * HEIGHT, width };
      const free = taken.every(
        (t) => Math.abs(t.y - at.y) >= HEIGHT || at.x + width <= t.x || t.x + t.width <= at.x,
      );
      if (!free) continue;
      taken.push(at);
      found[i] = { x, y: at.y };
      break;
    }
  }
  return found;
}

export class Labels {
  private readonly names: Name[];
  private readonly only: (Name & { of: number }) | null;

  constructor(
    root: HTMLElement,
    private readonly hello: Hello,
  ) {
    root.replaceChildren();
    const few = hello.vehicles.length <= MOST;
    this.names = hello.vehicles.slice(0, few ? MOST : 0).map((card, i) => this.make(root, card.name, i));
    this.only = few ? null : { ...this.make(root, "", 0), of: -1 };
  }

  private make(root: HTMLElement, name: string, i: number): Name {
    const label = document.createElement("span");
    label.textContent = name;
    label.style.borderColor = `#${colourOf(i).toString(16).padStart(6, "0")}`;
    root.append(label);
    return { label, width: label.offsetWidth + 4 };
  }

  update(camera: THREE.Camera, places: THREE.Vector3[], selected: number, width: number, height: number): void {
    if (this.only && this.only.of !== selected) {
      this.only.of = selected;
      this.only.label.textContent = this.hello.vehicles[selected]!.name;
    }
    const shown: [Name, number][] = this.only ? [[this.only, selected]] : this.names.map((name, i) => [name, i]);
    const p = new THREE.Vector3();
    const wanted = shown.map(([name, i]) => {
      const card = this.hello.vehicles[i]!;
      p.copy(places[i]!);
      const far = p.distanceTo(camera.position);
      p.y += 0.7 * Math.max(card.height, 0.5 * card.length, 0.4);
      p.project(camera);
      const seen = p.z < 1 && Math.abs(p.x) < 1.05 && Math.abs(p.y) < 1.05;
      return seen ? { x: (0.5 + 0.5 * p.x) * width, y: (0.5 - 0.5 * p.y) * height, width: name.width, far } : null;
    });
    spread(wanted).forEach((at, i) => {
      const [{ label }] = shown[i]!;
      label.hidden = at === null;
      if (at) label.style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
    });
  }
}
