// Whether pictures take too long.

const SLOW = 45;
/** The first pictures compile shaders and do not count. */
const FIRST = 6;
/** A picture counts for no more than this, ms: one that hangs is no slow machine. */
const MOST = 300;
/** A page that was not looked at for so long, ms, drew nothing meanwhile. */
const ASLEEP = 2000;
const ENOUGH = 8;

/**
 * Told of every picture how long after the last one it came. The mean is judged, not each of them:
 * a browser that draws in software hands them out by twos and threes, with long waits in between.
 */
export class Pace {
  private count = 0;
  private mean = 0;
  private slow = 0;

  /** Whether they are too slow by now; it then begins anew. */
  isSlow(took: number): boolean {
    if (++this.count < FIRST || took > ASLEEP) return false;
    this.mean += 0.15 * (Math.min(took, MOST) - this.mean);
    this.slow = this.mean > SLOW ? this.slow + 1 : 0;
    if (this.slow < ENOUGH) return false;
    this.count = this.mean = this.slow = 0;
    return true;
  }
}
