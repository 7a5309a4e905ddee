// canboatjs reads the candump text of a run: node canboat.mjs PORT
import net from "node:net";
import readline from "node:readline";
import canboat from "@canboat/canboatjs";

const parser = new canboat.FromPgn();
const told = {};
let failed = 0;
parser.on("error", () => { failed += 1; });
parser.on("pgn", (message) => { (told[message.pgn] ??= []).push(message.fields); });
const line = net.connect(Number(process.argv[2]), "127.0.0.1");
const reader = readline.createInterface({ input: line });
reader.on("line", (text) => { parser.parseString(text); });
reader.on("close", () => {
  const counts = Object.fromEntries(Object.entries(told).map(([pgn, all]) => [pgn, all.length]));
  const place = (fields) => [fields.latitude ?? fields.Latitude, fields.longitude ?? fields.Longitude];
  const places = (told[129025] ?? []).map(place);
  const whole = (told[129029] ?? []).map(place);
  console.log(JSON.stringify({ counts, failed, places, whole }));
});
