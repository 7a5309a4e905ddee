// Another sea, wind, current and visibility while the run goes on.

import { button, element } from "./dom";
import type { Request, SetWeather, WeatherCard } from "./messages";

const DEGREES = 180 / Math.PI;

type Part = Exclude<keyof SetWeather, "type" | "sea_state">;

/** Number by number: what it is called, its unit, the factor to SI, least and most, and the step. */
const PARTS: [Part, string, string, number, number, number, number][] = [
  ["wave_height", "wave height", "m", 1, 0, 20, 0.1],
  ["wave_period", "wave period", "s", 1, 0.5, 25, 0.5],
  ["wave_towards", "waves towards", "°", 1 / DEGREES, 0, 360, 5],
  ["wind_speed", "wind", "m/s", 1, 0, 60, 0.5],
  ["wind_towards", "wind towards", "°", 1 / DEGREES, 0, 360, 5],
  ["current_speed", "current", "m/s", 1, 0, 5, 0.1],
  ["current_towards", "current towards", "°", 1 / DEGREES, 0, 360, 5],
  ["visibility", "visibility", "m", 1, 10, 100_000, 10],
];

export class WeatherPanel {
  readonly root = element("details", { id: "weather" }, element("summary", {}, "Weather"));
  private readonly inputs = new Map<Part, HTMLInputElement>();

  constructor(weather: WeatherCard, send: (request: Request) => void) {
    const state = element("select", { id: "sea-state", "aria-label": "sea state" }, element("option", { value: "" }, "–"));
    for (let i = 0; i <= 9; i++) state.append(element("option", { value: String(i) }, String(i)));
    const grid = element("div", { class: "grid" }, element("label", { for: "sea-state" }, "sea state"), state, element("span"));
    for (const [part, name, unit, factor, least, most, step] of PARTS) {
      const input = element("input", {
        id: `weather-${part}`,
        type: "number",
        min: String(least),
        max: String(most),
        step: String(step),
      });
      input.addEventListener("change", () => {
        if (input.value === "" || !input.checkValidity()) return;
        state.value = "";
        send({ type: "weather", [part]: Number(input.value) * factor });
      });
      this.inputs.set(part, input);
      grid.append(element("label", { for: input.id }, name), input, element("span", {}, unit));
    }
    state.addEventListener("change", () => {
      if (state.value !== "") send({ type: "weather", sea_state: Number(state.value) });
    });
    const fog = button("fog bank", "fog: one sees 150 m", () => send({ type: "weather", visibility: 150 }));
    const clear = button("clear air", "one sees far again", () => send({ type: "weather", visibility: 100_000 }));
    this.root.append(grid, element("div", { class: "row" }, fog, clear));
    this.show(weather);
  }

  /** What the weather is, or becomes. */
  show(weather: WeatherCard): void {
    for (const [part, , , factor, , , step] of PARTS) {
      const input = this.inputs.get(part)!;
      if (document.activeElement === input) continue;
      let value = weather[part] / factor;
      if (part.endsWith("towards")) value = ((value % 360) + 360) % 360;
      input.value = String(Number((Math.round(value / step) * step).toFixed(2)));
    }
  }
}
