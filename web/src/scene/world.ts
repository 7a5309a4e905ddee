// The picture: sea, sky, bottom, bodies and vehicles, as finely as the machine can.

import * as THREE from "three";

import type { BottomCard, Hello, Sea as SeaNow } from "../messages";
import type { Layout } from "../state";
import { Arrows } from "./arrows";
import { place } from "./axes";
import { Bottom } from "./bottom";
import { Cameras, type Surroundings } from "./cameras";
import { Labels } from "./labels";
import { airLoss, CLEAR_AIR, patchFog, skyDome, sunAt } from "./light";
import { Pace } from "./pace";
import { plans } from "./plan";
import { SensorRays } from "./rays";
import { type Trail, trailsOf } from "./trails";
import { Bodies, Fleet } from "./vehicles";
import { Wakes } from "./wakes";
import { Sea, Water, type WaterQuality } from "./water";

interface Quality extends WaterQuality {
  name: string;
  pixels: number;
}

/** From the finest down. */
export const QUALITIES: Quality[] = [
  { name: "high", rings: 200, sectors: 320, fine: true, pixels: 2 },
  { name: "good", rings: 160, sectors: 224, fine: true, pixels: 1 },
  { name: "medium", rings: 112, sectors: 144, fine: false, pixels: 1 },
  { name: "low", rings: 72, sectors: 96, fine: false, pixels: 0.75 },
  { name: "lowest", rings: 44, sectors: 64, fine: false, pixels: 0.5 },
];

export const SUNS: Record<string, [number, number]> = {
  low: [9, 235],
  day: [38, 210],
  noon: [70, 180],
};

function rendererOn(canvas: HTMLCanvasElement): THREE.WebGLRenderer | null {
  try {
    const made = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    made.toneMapping = THREE.ACESFilmicToneMapping;
    made.toneMappingExposure = 1.05;
    return made;
  } catch {
    return null;
  }
}

export class World {
  /** Null where the browser has no WebGL: everything but the picture goes on. */
  readonly renderer: THREE.WebGLRenderer | null;
  readonly scene = new THREE.Scene();
  readonly cameras: Cameras;
  readonly water: Water;
  readonly sea: Sea;
  readonly fleet: Fleet;
  readonly trails: Trail[];
  quality = 1;
  /** Set where somebody chose the quality: it then stays. */
  fixed = false;
  sun = "low";
  time = 0;
  readonly rays: SensorRays;
  readonly arrows: Arrows;
  readonly wakes: Wakes;
  readonly plans: THREE.Group;
  private readonly bottom: Bottom;
  private readonly bodies: Bodies;
  private readonly labels: Labels;
  private readonly ray = new THREE.Raycaster();
  private readonly shared = {
    sunDirection: { value: new THREE.Vector3(0, 1, 0) },
    eyeDepth: { value: -1 },
    airLoss: { value: CLEAR_AIR },
  };
  private readonly sunlight = new THREE.DirectionalLight(0xffffff, 2.6);
  private readonly skylight = new THREE.HemisphereLight(0xc8daf0, 0x4a6068, 3);
  private readonly dome: THREE.Mesh;
  readonly marker: THREE.Mesh;
  private readonly pace = new Pace();
  private drawn = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    labels: HTMLElement,
    private readonly hello: Hello,
    private readonly layout: Layout,
    private readonly onQuality: (name: string, steppedDown: boolean) => void,
  ) {
    patchFog();
    this.renderer = rendererOn(canvas);
    this.cameras = new Cameras(canvas);
    this.scene.fog = new THREE.Fog(0xb8bcc0, 1, 0);
    this.sea = new Sea(hello.waves);
    this.water = new Water(this.sea, this.shared, hello.wind_speed);
    this.dome = skyDome(this.shared);
    this.bottom = new Bottom(hello.water_depth, hello.bottom);
    this.fleet = new Fleet(hello, layout);
    this.bodies = new Bodies(hello, layout);
    this.trails = trailsOf(hello, this.sea);
    this.marker = new THREE.Mesh(
      new THREE.TorusGeometry(1.5, 0.12, 8, 40).rotateX(Math.PI / 2),
      new THREE.MeshBasicMaterial({ color: 0xffffff }),
    );
    this.marker.visible = false;
    this.scene.add(this.dome, this.water.mesh, this.fleet.group, this.bodies.group);
    this.wakes = new Wakes(hello, this.sea, this.shared);
    this.rays = new SensorRays((north, east) => this.bottom.depthAt(north, east));
    this.arrows = new Arrows(hello, layout);
    this.plans = plans(hello);
    this.scene.add(this.plans, this.wakes.mesh, this.rays.group, this.arrows.group);
    this.scene.add(this.sunlight, this.skylight, this.marker);
    for (const trail of this.trails) this.scene.add(trail.line);
    if (this.bottom.mesh) this.scene.add(this.bottom.mesh);
    this.labels = new Labels(labels, hello);
    this.setSun(this.sun);
    this.setVisibility(hello.visibility);
    this.setQuality(this.quality, false);
  }

  setSun(name: string): void {
    const [height, azimuth] = SUNS[name] ?? SUNS["low"]!;
    this.sun = name in SUNS ? name : "low";
    const direction = sunAt((height * Math.PI) / 180, (azimuth * Math.PI) / 180);
    this.shared.sunDirection.value.copy(direction);
    this.sunlight.position.copy(direction);
    const low = height < 15;
    this.sunlight.color.set(low ? 0xffb27a : 0xfff4e2);
    (this.scene.fog as THREE.Fog).color.set(low ? 0xb6a296 : 0xb8cbd8);
  }

  changeSea(sea: Pick<SeaNow, "waves" | "wind_speed" | "visibility">): void {
    this.sea.change(sea.waves);
    this.water.refresh(sea.wind_speed);
    this.setVisibility(sea.visibility);
  }

  /** Another part of a map, which has come into reach. */
  changeBottom(bottom: BottomCard): void {
    this.bottom.change(bottom);
  }

  private setVisibility(visibility: number): void {
    this.shared.airLoss.value = airLoss(visibility);
    (this.scene.fog as THREE.Fog).far = airLoss(visibility);
  }

  setQuality(index: number, steppedDown: boolean): void {
    this.quality = Math.min(Math.max(index, 0), QUALITIES.length - 1);
    const quality = QUALITIES[this.quality]!;
    this.water.build(quality);
    this.resize();
    this.onQuality(quality.name, steppedDown);
  }

  resize(): void {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const most = QUALITIES[this.quality]!.pixels;
    this.renderer?.setPixelRatio(Math.min(window.devicePixelRatio * Math.min(most, 1), most));
    this.renderer?.setSize(w, h, false);
    this.cameras.camera.aspect = w / Math.max(h, 1);
    this.cameras.camera.updateProjectionMatrix();
  }

  /** Where a ray through a point of the canvas meets the mean surface: north and east, m. */
  pick(x: number, y: number): [number, number] | null {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.cameras.camera);
    const found = ray.ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 1, 0), 0), new THREE.Vector3());
    return found ? [found.x, found.z] : null;
  }

  /** What the eye keeps away from. */
  private readonly around: Surroundings = {
    surface: (x, z) => this.sea.elevation(x, z, this.time),
    depth: (x, z) => this.bottom.depthAt(x, z),
    clear: (from, along, most) => {
      this.ray.set(from, along);
      this.ray.far = most;
      const hit = this.ray.intersectObjects(this.bodies.group.children, false)[0];
      return hit ? Math.max(hit.distance - 0.3, 0) : most;
    },
  };

  mark(at: [number, number] | null): void {
    this.marker.visible = at !== null;
    if (at) this.marker.position.set(at[0], 0.3, at[1]);
  }

  clearTrails(): void {
    for (const trail of this.trails) trail.clear();
    this.wakes.clear();
    this.rays.clearPoints();
    this.cameras.jump();
  }

  /** Trails and wakes: also of states that passed between two pictures. */
  leave(numbers: Float32Array): void {
    const of = (vehicle: number, part: string) => this.layout.of(numbers, vehicle, part);
    const at = new THREE.Vector3();
    this.trails.forEach((trail, i) => trail.add(place(of(i, "position"), at)));
    this.wakes.add((i) => place(of(i, "position"), at), (i) => of(i, "velocity")[0] ?? 0);
  }

  draw(time: number, numbers: Float32Array, selected: number, seconds: number): void {
    this.time = time;
    this.fleet.update(numbers, time);
    this.bodies.update(numbers);
    const { places, turns } = this.fleet;
    this.leave(numbers);
    const p = places[selected]!;
    const card = this.hello.vehicles[selected]!;
    this.cameras.update(p, turns[selected]!, card.length, seconds, this.around);
    this.rays.update(p, turns[selected]!);
    this.arrows.update(numbers, selected, p, turns[selected]!);
    const eye = this.cameras.camera.position;
    const map = this.cameras.eye.kind === "map";
    const centre = map || this.cameras.eye.kind === "free" ? eye : eye.clone().lerp(p, 0.6);
    this.water.update(centre.x, centre.z, time, map && this.bottom.mesh !== null);
    this.wakes.update(this.water.mesh.position, places, turns, time);
    for (const trail of this.trails) trail.update(this.water.mesh.position);
    this.shared.eyeDepth.value = this.sea.elevation(eye.x, eye.z, time) - eye.y;
    this.wakes.mesh.visible = this.shared.eyeDepth.value < 0;
    const keel = card.craft === "surface" ? 0.5 * (card.height || 0.5) : 0;
    (this.scene.fog as THREE.Fog).near = this.sea.elevation(p.x, p.z, time) - keel;
    this.bottom.update(time, eye.x, eye.z, map);
    this.sunlight.target.position.set(0, 0, 0);
    this.renderer?.render(this.scene, this.cameras.camera);
    const { clientWidth, clientHeight } = this.canvas;
    this.labels.update(this.cameras.camera, this.fleet.places, selected, clientWidth, clientHeight);
    this.judge();
  }

  /** Step down when frames take long. */
  private judge(): void {
    const now = performance.now();
    const slow = this.pace.isSlow(now - this.drawn);
    this.drawn = now;
    if (slow && !this.fixed && this.quality < QUALITIES.length - 1) this.setQuality(this.quality + 1, true);
  }
}
