// roslibjs drives a vessel through rosbridge: node roslib.mjs PORT
import ROSLIB from "roslib";

const ros = new ROSLIB.Ros({ url: `ws://127.0.0.1:${process.argv[2]}` });
const stamps = [];
let last = null;

ros.on("error", (error) => { console.error(String(error)); process.exit(1); });
ros.on("connection", () => {
  const order = new ROSLIB.Topic({
    ros, name: "/otter/actuator_cmd", messageType: "interfaces/Actuator",
  });
  const odometry = new ROSLIB.Topic({
    ros, name: "/otter/odometry", messageType: "nav_msgs/Odometry",
  });
  odometry.subscribe((message) => {
    stamps.push(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec);
    last = message.twist.twist.linear.x;
    if (stamps.length === 10) {
      order.publish(new ROSLIB.Message({
        actuator_names: ["th_1", "th_2"], actuator_values: [120.0, 180.0],
      }));
    }
  });
  const pause = new ROSLIB.Service({
    ros, name: "/simulation/pause", serviceType: "std_srvs/Trigger",
  });
  const resume = new ROSLIB.Service({
    ros, name: "/simulation/resume", serviceType: "std_srvs/Trigger",
  });
  pause.callService(new ROSLIB.ServiceRequest({}), (paused) =>
    resume.callService(new ROSLIB.ServiceRequest({}), (resumed) =>
      console.error(`services: ${paused.success} ${resumed.success}`)));
});
ros.on("close", () => {
  console.log(JSON.stringify({ heard: stamps.length, first: stamps[0], last: stamps.at(-1), surge: last }));
  process.exit(0);
});
