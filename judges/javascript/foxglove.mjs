// Foxglove's own client hears and steers a vessel: node foxglove.mjs PORT
import foxglove from "@foxglove/ws-protocol";
import WebSocket from "ws";

const { FoxgloveClient } = foxglove;
const client = new FoxgloveClient({
  ws: new WebSocket(`ws://127.0.0.1:${process.argv[2]}`, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]),
});
let heard = 0, bytes = 0, times = 0, server = "";

client.on("error", (error) => { console.error(String(error)); process.exit(1); });
client.on("serverInfo", (info) => { server = info.name; });
client.on("time", () => { times += 1; });
client.on("message", (event) => { heard += 1; bytes = event.data.byteLength; });
client.on("advertise", (channels) => {
  const odometry = channels.find((channel) => channel.topic === "/otter/odometry");
  client.subscribe(odometry.id);
  const order = client.advertise({
    topic: "/otter/cmd/left", encoding: "json", schemaName: "std_msgs/Float64",
  });
  client.sendMessage(order, new TextEncoder().encode(JSON.stringify({ data: 2.0 })));
});
client.on("close", () => {
  console.log(JSON.stringify({ server, heard, bytes, times }));
  process.exit(0);
});
