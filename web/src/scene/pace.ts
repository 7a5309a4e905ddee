// Whether pictures take too long.

const SLOW = 45;
/** The first pictures compile shaders and do not count. */
const FIRST = 3;
/** A picture counts for no more than this in the mean, ms: one that hangs is no slow machine. */
const MOST = 300;
/** It is slow after so many slow pictures, or so long, ms, of a few of them. */
const MANY = 8;
const FEW = 3;
const LONG = 2000;

/**
 * Told of every picture how long after the last one it came. The mean is judged, not each of them:
 * a browser that draws in software hands them out by twos and threes, with long waits in between.
 */
export class Pace {
  private count = 0;
  private mean = 0;
  private slow = 0;
  private slowFor = 0;

  /** Whether they are too slow by now; it then begins anew. */
  isSlow(took: number): boolean {
    if (++this.count < FIRST) return false;
    this.mean += 0.15 * (Math.min(took, MOST) - this.mean);
    const slow = this.mean > SLOW;
    this.slow = slow ? this.slow + 1 : 0;
    this.slowFor = slow ? this.slowFor + Math.min(took, 0.5 * LONG) : 0;
    if (this.slow < MANY && (this.slow < FEW || this.slowFor < LONG)) return false;
    this.count = this.mean = this.slow = this.slowFor = 0;
    return true;
  }
}
