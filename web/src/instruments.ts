// A compass and an artificial horizon.

const DEGREES = 180 / Math.PI;

function context(canvas: HTMLCanvasElement): { g: CanvasRenderingContext2D; r: number } {
  const size = canvas.clientWidth || 120;
  const ratio = Math.min(window.devicePixelRatio, 2);
  if (canvas.width !== size * ratio) canvas.width = canvas.height = size * ratio;
  const g = canvas.getContext("2d")!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, size, size);
  g.translate(size / 2, size / 2);
  return { g, r: size / 2 - 2 };
}

/** Heading up; course over ground as a small arrow. */
export function drawCompass(canvas: HTMLCanvasElement, heading: number, course: number | null): void {
  const { g, r } = context(canvas);
  g.fillStyle = "#0c1b26";
  g.beginPath();
  g.arc(0, 0, r, 0, 2 * Math.PI);
  g.fill();
  g.font = "600 11px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (let deg = 0; deg < 360; deg += 10) {
    const a = deg / DEGREES - heading - Math.PI / 2;
    const inner = deg % 30 ? 0.92 : 0.86;
    g.strokeStyle = deg % 30 ? "#55707f" : "#c6d7e1";
    g.beginPath();
    g.moveTo(inner * r * Math.cos(a), inner * r * Math.sin(a));
    g.lineTo(0.98 * r * Math.cos(a), 0.98 * r * Math.sin(a));
    g.stroke();
    if (deg % 90 === 0) {
      g.fillStyle = deg === 0 ? "#ff8a65" : "#dce8ef";
      g.fillText("NESW"[deg / 90]!, 0.73 * r * Math.cos(a), 0.73 * r * Math.sin(a));
    }
  }
  if (course !== null) {
    const a = course - heading - Math.PI / 2;
    g.strokeStyle = "#7ee787";
    g.lineWidth = 2;
    const [c, s] = [Math.cos(a), Math.sin(a)];
    g.beginPath(); // outside of the number in the middle, inside of the letters
    g.moveTo(0.36 * r * c, 0.36 * r * s);
    g.lineTo(0.58 * r * c, 0.58 * r * s);
    g.moveTo(0.5 * r * c - 0.06 * r * s, 0.5 * r * s + 0.06 * r * c);
    g.lineTo(0.58 * r * c, 0.58 * r * s);
    g.lineTo(0.5 * r * c + 0.06 * r * s, 0.5 * r * s - 0.06 * r * c);
    g.stroke();
    g.lineWidth = 1;
  }
  g.fillStyle = "#ffc53d";
  g.beginPath();
  g.moveTo(0, -r);
  g.lineTo(-6, -r + 11);
  g.lineTo(6, -r + 11);
  g.fill();
  g.fillStyle = "#fff";
  g.font = "600 15px system-ui, sans-serif";
  const degrees = ((heading * DEGREES) % 360 + 360) % 360;
  g.fillText(`${(Math.round(degrees) % 360).toString().padStart(3, "0")}°`, 0, 0);
}

export function drawHorizon(canvas: HTMLCanvasElement, roll: number, pitch: number): void {
  const { g, r } = context(canvas);
  g.save();
  g.beginPath();
  g.arc(0, 0, r, 0, 2 * Math.PI);
  g.clip();
  g.rotate(-roll);
  const scale = r / 30; // px per degree
  const y = pitch * DEGREES * scale;
  g.fillStyle = "#3f87b8";
  g.fillRect(-2 * r, -4 * r + y, 4 * r, 4 * r);
  g.fillStyle = "#5d4a35";
  g.fillRect(-2 * r, y, 4 * r, 4 * r);
  g.strokeStyle = "#fff";
  g.beginPath();
  g.moveTo(-2 * r, y);
  g.lineTo(2 * r, y);
  for (let deg = -60; deg <= 60; deg += 10) {
    if (!deg) continue;
    const half = deg % 20 ? 0.12 * r : 0.24 * r;
    g.moveTo(-half, y - deg * scale);
    g.lineTo(half, y - deg * scale);
  }
  g.stroke();
  g.restore();
  g.strokeStyle = "#ffc53d";
  g.lineWidth = 3;
  g.beginPath();
  g.moveTo(-0.5 * r, 0);
  g.lineTo(-0.18 * r, 0);
  g.lineTo(0, 0.1 * r);
  g.lineTo(0.18 * r, 0);
  g.lineTo(0.5 * r, 0);
  g.stroke();
  g.lineWidth = 1;
}
