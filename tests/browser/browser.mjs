// A headless Chromium that obeys JSON lines: one request in, one answer out.

import { createInterface } from "node:readline";

import chromium from "@sparticuz/chromium";
import { chromium as engine } from "playwright-core";

const browser = await engine.launch({
  executablePath: await chromium.executablePath(),
  args: [
    "--headless=shell",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
  ],
});
const pages = new Map();

const verbs = {
  async open({ page, url, width, height, before }) {
    const viewport = { width: width ?? 640, height: height ?? 400 };
    const context = await browser.newContext({ viewport, locale: "en-GB" });
    if (before) await context.addInitScript(before);
    const made = await context.newPage();
    const kept = { page: made, errors: [], requests: [] };
    made.on("console", (m) => m.type() === "error" && kept.errors.push(m.text()));
    made.on("pageerror", (e) => kept.errors.push(String(e.stack ?? e)));
    made.on("request", (r) => kept.requests.push(r.url()));
    made.on("websocket", (w) => kept.requests.push(w.url()));
    pages.set(page, kept);
    const answer = await made.goto(url);
    return answer?.status() ?? 0;
  },
  evaluate: ({ page, script }) => pages.get(page).page.evaluate(script),
  reload: async ({ page }) => {
    await pages.get(page).page.reload();
  },
  down: ({ page, key }) => pages.get(page).page.keyboard.down(key),
  up: ({ page, key }) => pages.get(page).page.keyboard.up(key),
  press: ({ page, key }) => pages.get(page).page.keyboard.press(key),
  click: ({ page, x, y }) => pages.get(page).page.mouse.click(x, y),
  push: ({ page, selector }) => pages.get(page).page.click(selector),
  choose: async ({ page, selector, value }) => {
    await pages.get(page).page.selectOption(selector, value);
  },
  picture: async ({ page, path }) => {
    await pages.get(page).page.screenshot({ path, timeout: 120000 });
  },
  errors: async ({ page }) => pages.get(page).errors,
  requests: async ({ page }) => pages.get(page).requests,
  async close({ page }) {
    await pages.get(page).page.context().close();
    pages.delete(page);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await verbs[request.verb](request)) ?? null };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
