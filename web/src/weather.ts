// The weather of a live run: what it becomes, and controls to change it.

import { button, element } from "./dom";
import type { Request, SetWeather, WeatherCard } from "./messages";

const DEGREES = 180 / Math.PI;

interface Dial {
  name: keyof WeatherCard;
  label: string;
  unit: string;
  low: number;
  high: number;
  step: number;
  /** From what is shown to SI. */
  factor: number;
}

/** Directions are those from which wind and waves come, as people say them; a current's is where it goes. */
const DIALS: Dial[] = [
  { name: "wave_height", label: "waves", unit: "m", low: 0, high: 15, step: 0.1, factor: 1 },
  { name: "wave_period", label: "period", unit: "s", low: 1, high: 20, step: 0.1, factor: 1 },
  { name: "wave_towards", label: "waves from", unit: "°", low: 0, high: 359, step: 1, factor: 1 / DEGREES },
  { name: "wind_speed", label: "wind", unit: "m/s", low: 0, high: 40, step: 0.5, factor: 1 },
  { name: "wind_towards", label: "wind from", unit: "°", low: 0, high: 359, step: 1, factor: 1 / DEGREES },
  { name: "current_speed", label: "current", unit: "m/s", low: 0, high: 3, step: 0.05, factor: 1 },
  { name: "current_towards", label: "current to", unit: "°", low: 0, high: 359, step: 1, factor: 1 / DEGREES },
  { name: "visibility", label: "visibility", unit: "m", low: 50, high: 100000, step: 10, factor: 1 },
];

const FROM = new Set<keyof WeatherCard>(["wave_towards", "wind_towards"]);

/** A number as it is shown. */
export function shownValue(name: keyof WeatherCard, value: number): number {
  const dial = DIALS.find((d) => d.name === name)!;
  if (dial.unit !== "°") return value;
  const degrees = value * DEGREES + (FROM.has(name) ? 180 : 0);
  return ((Math.round(degrees) % 360) + 360) % 360;
}

/** A shown number as it is asked for: SI, towards. */
export function askedValue(name: keyof WeatherCard, shown: number): number {
  const dial = DIALS.find((d) => d.name === name)!;
  if (dial.unit !== "°") return shown;
  const degrees = shown + (FROM.has(name) ? 180 : 0);
  return (((degrees + 180) % 360) - 180) * dial.factor;
}

export class WeatherDesk {
  readonly root = element("details", { id: "weather" }, element("summary", {}, "Weather and seed"));
  private readonly inputs = new Map<keyof WeatherCard, HTMLInputElement>();
  private readonly state = element("select", { id: "sea-state", "aria-label": "sea state" });

  constructor(weather: WeatherCard, seed: number, send: (request: Request) => void) {
    this.state.append(element("option", { value: "" }, "sea state…"));
    for (let code = 0; code <= 9; code++) this.state.append(element("option", { value: String(code) }, `sea state ${code}`));
    this.state.addEventListener("change", () => {
      if (this.state.value) send({ type: "weather", sea_state: Number(this.state.value) });
      this.state.value = "";
    });
    this.root.append(this.state);
    for (const dial of DIALS) {
      const input = element("input", {
        id: dial.name,
        type: "number",
        min: String(dial.low),
        max: String(dial.high),
        step: String(dial.step),
      });
      input.addEventListener("change", () => {
        const shown = Math.min(Math.max(Number(input.value), dial.low), dial.high);
        const request: SetWeather = { type: "weather", [dial.name]: askedValue(dial.name, shown) };
        send(request);
      });
      this.inputs.set(dial.name, input);
      this.root.append(element("label", {}, `${dial.label} `, input, ` ${dial.unit}`));
    }
    this.root.append(
      button("fog bank", "let fog come: a visibility of 150 m", () => send({ type: "weather", visibility: 150 })),
      button("clear air", "let the fog go", () => send({ type: "weather", visibility: 100000 })),
    );
    const chosen = element("input", { id: "seed", type: "number", min: "0", step: "1", value: String(seed) });
    this.root.append(
      element("label", {}, "seed ", chosen),
      button("start anew", "back to the start, with this seed", () =>
        send({ type: "reset", seed: Math.max(0, Math.floor(Number(chosen.value))) }),
      ),
    );
    this.show(weather);
  }

  show(weather: WeatherCard): void {
    for (const [name, input] of this.inputs) {
      if (input !== document.activeElement) input.value = String(+shownValue(name, weather[name]).toFixed(2));
    }
  }
}
