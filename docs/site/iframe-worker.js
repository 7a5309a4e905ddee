// Browsers start no workers from file://, so without a server the search runs in a hidden frame.
if (location.protocol === "file:") {
  const inside = `
    postMessage = (data) => parent.postMessage(data, "*");
    importScripts = (...urls) => urls.reduce((before, url) => before.then(() =>
      new Promise((loaded) => {
        const script = document.createElement("script");
        script.src = url;
        script.onload = loaded;
        document.body.appendChild(script);
      })), Promise.resolve());`;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inner = this.frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source === inner)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      inner.document.open();
      inner.document.write(
        `<body><script>${inside}</` + `script><script src="${url}"></` + "script></body>");
      inner.document.close();
      this.ready = new Promise((loaded) => { inner.onload = loaded; });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(
        new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
