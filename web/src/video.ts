// A picture and a short film of the view, saved by the browser.

const LONGEST = 60_000;
const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

export function save(name: string, address: string): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = address;
  link.click();
}

/** Films a canvas from one push of the button to the next, a minute at most. */
export class Film {
  private recorder: MediaRecorder | null = null;
  private stopping = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly done: (film: Blob) => void,
  ) {}

  get running(): boolean {
    return this.recorder !== null;
  }

  /** Whether it runs now; throws where the browser cannot. */
  toggle(): boolean {
    if (this.recorder) {
      this.recorder.stop();
      return false;
    }
    const kind = KINDS.find((k) => MediaRecorder.isTypeSupported(k));
    if (!kind) throw new Error("this browser records no video");
    const recorder = new MediaRecorder(this.canvas.captureStream(30), { mimeType: kind, videoBitsPerSecond: 8e6 });
    const parts: Blob[] = [];
    recorder.ondataavailable = (e) => parts.push(e.data);
    recorder.onstop = () => {
      clearTimeout(this.stopping);
      this.recorder = null;
      for (const track of recorder.stream.getTracks()) track.stop();
      this.done(new Blob(parts, { type: kind }));
    };
    recorder.start(500);
    this.recorder = recorder;
    this.stopping = window.setTimeout(() => recorder.stop(), LONGEST);
    return true;
  }
}
