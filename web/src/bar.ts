// The controls at the foot of the page.

import { button, element } from "./dom";
import { type Driver, REST } from "./driving";
import { FASTEST, type Hello, type Request, SLOWEST } from "./messages";
import { CAMERAS, type CameraKind } from "./scene/cameras";
import { SUNS } from "./scene/world";
import type { State } from "./state";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100].filter((s) => s >= SLOWEST && s <= FASTEST);

export interface Actions {
  send(request: Request): void;
  camera(kind: CameraKind): void;
  sun(name: string): void;
  release(): void;
  waypointMode(on: boolean): void;
  screenshot(): void;
  /** Begin or end a film; whether one runs now. */
  film(): boolean;
  link(): void;
  arrows(on: boolean): void;
  rays(on: boolean): void;
  help(): void;
  /** Show or hide the instruments. */
  panel(on: boolean): void;
}

export class Bar {
  private readonly play: HTMLButtonElement;
  private readonly speed = element("select", { id: "speed", title: "speed", "aria-label": "speed" });
  private readonly timeline = element("input", {
    id: "timeline",
    type: "range",
    step: "any",
    "aria-label": "time of the recording",
  });
  private readonly clock = element("output", { id: "at" });
  private readonly waypoint: HTMLButtonElement | null = null;
  private readonly film: HTMLButtonElement;
  private readonly panel: HTMLButtonElement;
  private playing = true;
  private scrubbing = false;

  constructor(
    root: HTMLElement,
    tools: HTMLElement,
    private readonly hello: Hello,
    private readonly actions: Actions,
    driver: Driver,
  ) {
    const send = (request: Request) => actions.send(request);
    this.film = button("film", "begin or end a film of a minute at most", () => this.showFilm(actions.film()));
    this.film.id = "film";
    this.panel = toggle("panel", "show or hide the instruments (I)", (on) => actions.panel(on));
    this.panel.id = "panel-toggle";
    this.play = button("❚❚", "play or pause (space)", () => this.toggle());
    this.play.id = "play";
    const step = button("▸|", "one step (.)", () => send({ type: "step" }));
    step.id = "step";
    const reset = button("↺", "back to the start", () => send({ type: "reset" }));
    reset.id = "reset";
    for (const s of SPEEDS) this.speed.append(element("option", { value: String(s) }, `${s}×`));
    this.speed.value = "1";
    this.speed.addEventListener("change", () =>
      send({ type: "speed", factor: Number(this.speed.value) }),
    );
    const run = element("div", { class: "group" }, this.play, step, reset, this.speed);
    const needs: [HTMLButtonElement | HTMLSelectElement, Request["type"]][] = [
      [this.play, "pause"],
      [step, "step"],
      [reset, "reset"],
      [this.speed, "speed"],
    ];
    for (const [control, request] of needs) control.disabled = !hello.may.includes(request);
    const parts: HTMLElement[] = [run];
    if (hello.mode === "playback") {
      this.timeline.min = String(hello.start);
      this.timeline.max = String(hello.duration);
      this.timeline.addEventListener("input", () => {
        this.scrubbing = true;
        send({ type: "seek", time: Number(this.timeline.value) });
      });
      this.timeline.addEventListener("change", () => (this.scrubbing = false));
      parts.push(element("div", { class: "group wide" }, this.timeline, this.clock));
    } else if (hello.may.includes("stick")) {
      this.waypoint = button("⚑ send to…", "send to a place: then click the water (or shift-click)", () =>
        this.setWaypoint(this.waypoint!.getAttribute("aria-pressed") !== "true"),
      );
      this.waypoint.id = "waypoint";
      const release = button("give back", "give the vehicle back to its autopilot (G)", () => actions.release());
      release.id = "release";
      parts.push(element("div", { class: "group" }, this.waypoint, release, stick(driver)));
    }
    const camera = element("select", { id: "camera", title: "camera (C)", "aria-label": "camera" });
    for (const kind of CAMERAS) camera.append(element("option", { value: kind }, kind));
    camera.addEventListener("change", () => actions.camera(camera.value as CameraKind));
    const sun = element("select", { id: "sun", title: "sun", "aria-label": "sun" });
    for (const name of Object.keys(SUNS)) sun.append(element("option", { value: name }, `sun ${name}`));
    sun.addEventListener("change", () => actions.sun(sun.value));
    const eye = element(
      "div",
      { class: "group right" },
      camera,
      sun,
      toggle("arrows", "arrows: velocity, acceleration, current, wind and actuators (V)", (on) => actions.arrows(on)),
      toggle("rays", "rays of all sensors, not only of the one whose tab is open (B)", (on) => actions.rays(on)),
    );
    const picture = button("picture", "save a picture (P)", () => actions.screenshot());
    // where there are instruments only there is nothing to turn an eye to
    for (const part of [eye, picture, this.film]) part.classList.add("outside");
    root.replaceChildren(...parts, eye);
    tools.replaceChildren(
      picture,
      this.film,
      button("link", "copy a link to this view", () => actions.link()),
      button("?", "keys (?)", () => actions.help()),
      this.panel,
    );
  }

  showFilm(on: boolean): void {
    this.film.setAttribute("aria-pressed", String(on));
    this.film.textContent = on ? "■ film" : "film";
  }

  /** As if somebody pushed a button that stays down. */
  push(text: string): void {
    for (const made of document.querySelectorAll<HTMLButtonElement>("button.toggle")) {
      if (made.textContent === text) made.click();
    }
  }

  showPanel(on: boolean): void {
    this.panel.setAttribute("aria-pressed", String(on));
  }

  toggle(): void {
    this.actions.send({ type: this.playing ? "pause" : "play" });
  }

  setWaypoint(on: boolean): void {
    this.waypoint?.setAttribute("aria-pressed", String(on));
    this.actions.waypointMode(on);
  }

  show(state: State, shown: number): void {
    this.playing = state.playing;
    this.play.textContent = state.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-pressed", String(state.playing));
    if (this.hello.mode === "playback") {
      if (!this.scrubbing) this.timeline.value = String(shown);
      this.clock.textContent = `${shown.toFixed(1)} / ${this.hello.duration.toFixed(0)} s`;
    }
  }
}

/** A button that stays down until it is pushed again. */
function toggle(text: string, title: string, act: (on: boolean) => void): HTMLButtonElement {
  const made = button(text, title, () => {
    const on = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(on));
    act(on);
  });
  made.classList.add("toggle");
  made.setAttribute("aria-pressed", "false");
  return made;
}

/** An on-screen stick for a mouse or a finger: up is ahead, aside turns; it springs back. */
function stick(driver: Driver): HTMLElement {
  const knob = element("i");
  const pad = element(
    "div",
    { id: "stick", title: "drive: drag, or keys W A S D (R F up and down)", role: "application", "aria-label": "stick" },
    knob,
  );
  const move = (e: PointerEvent) => {
    const box = pad.getBoundingClientRect();
    const x = Math.min(Math.max((2 * (e.clientX - box.left)) / box.width - 1, -1), 1);
    const y = Math.min(Math.max(1 - (2 * (e.clientY - box.top)) / box.height, -1), 1);
    driver.stick = { ahead: y, starboard: x, dive: 0 };
    knob.style.transform = `translate(${x * 22}px, ${-y * 22}px)`;
  };
  pad.addEventListener("pointerdown", (e) => {
    pad.setPointerCapture(e.pointerId);
    move(e);
  });
  pad.addEventListener("pointermove", (e) => {
    if (pad.hasPointerCapture(e.pointerId)) move(e);
  });
  const up = () => {
    driver.stick = REST;
    knob.style.transform = "";
  };
  pad.addEventListener("pointerup", up);
  pad.addEventListener("pointercancel", up);
  return pad;
}
