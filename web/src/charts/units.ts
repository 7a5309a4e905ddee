// Units in which numbers are shown: the usual one first, then others that a click goes through.

const CHOICES: Record<string, [string, number][]> = {
  "m/s": [["m/s", 1], ["kn", 3600 / 1852], ["km/h", 3.6]],
  m: [["m", 1], ["ft", 1 / 0.3048]],
  rad: [["°", 180 / Math.PI], ["rad", 1]],
  "rad/s": [["°/s", 180 / Math.PI], ["rad/s", 1]],
  "rev/s": [["rpm", 60], ["rev/s", 1]],
  N: [["N", 1], ["kN", 1e-3]],
  Pa: [["kPa", 1e-3], ["bar", 1e-5], ["Pa", 1]],
};

/** Units of recordings (`m s-1`) as the page writes them (`m/s`). */
export function plain(unit: string): string {
  if (unit === "1") return "";
  return unit
    .replace("degree_Celsius", "°C")
    .split(" ")
    .map((part) => part.replace(/^([A-Za-z]+)-2$/, "/$1²").replace(/^([A-Za-z]+)-1$/, "/$1"))
    .join(" ")
    .replaceAll(" /", "/");
}

/** Which unit is chosen for each quantity: one choice for the whole page. */
export class Units {
  private readonly chosen = new Map<string, number>();

  /** Name and factor of the unit in which something in `unit` is shown. */
  of(unit: string): { name: string; factor: number } {
    const known = CHOICES[unit];
    if (!known) return { name: unit, factor: 1 };
    const [name, factor] = known[(this.chosen.get(unit) ?? 0) % known.length]!;
    return { name, factor };
  }

  /** Whether there is more than one. */
  has(unit: string): boolean {
    return unit in CHOICES;
  }

  next(unit: string): void {
    this.chosen.set(unit, (this.chosen.get(unit) ?? 0) + 1);
  }
}

export const units = new Units();
