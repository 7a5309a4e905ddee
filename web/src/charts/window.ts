// The span of time that all charts show: the last so many seconds, or one that somebody chose.

export class TimeWindow {
  /** Shown while nobody has chosen another, s; 0 is all there is. */
  span = 120;
  /** Whether a line marks the moment of the picture: in a recording, whose charts are whole. */
  marked = false;
  private fixed: [number, number] | null = null;

  get follows(): boolean {
    return this.fixed === null;
  }

  /** What is shown of times from `first` to `last`, of which `now` is the moment of the picture. */
  range(first: number, last: number, now: number): [number, number] {
    if (this.fixed) return this.fixed;
    if (!this.span) return [first, Math.max(last, first + 1)];
    const end = Math.max(Math.min(now, last), first + Math.min(this.span, last - first));
    return [Math.max(first, end - this.span), Math.max(end, first + 1)];
  }

  /** Keep the time `at` where it is, and show `factor` times as much. */
  zoom(factor: number, at: number, shown: [number, number]): void {
    const [a, b] = shown;
    const span = Math.min(Math.max((b - a) * factor, 0.2), 1e6);
    const share = b > a ? (at - a) / (b - a) : 0.5;
    this.fixed = [at - share * span, at + (1 - share) * span];
  }

  /** Go aside by a share of what is shown; later for a positive one. */
  pan(share: number, shown: [number, number]): void {
    const by = share * (shown[1] - shown[0]);
    this.fixed = [shown[0] + by, shown[1] + by];
  }

  /** Show the latest again. */
  follow(): void {
    this.fixed = null;
  }
}
