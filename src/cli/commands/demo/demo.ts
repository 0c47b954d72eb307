import { command } from "../../program/command.ts";
import { readPort } from "../../program/flag-values.ts";

export default command({
  summary: "Serve a sample shop with reviews, photos, questions, and emails",
  database: "optional",
  examples: ["starpost demo", "starpost demo --port 3000"],
  flags: {
    port: { value: "<n>", description: "port of the shop; 0 selects a free port", default: 0, read: readPort },
  },
  notes: [
    "The shop runs on this machine only, with a temporary database. It needs no network, sends no emails, uses no profile, and deletes everything when you press Ctrl-C.",
    "Reviews that you write appear after you reload the page. Photos and questions need the link in an email, so they do not appear.",
  ],
  run: async (context, { flags }) => {
    const { runDemo } = await import("./demo-run.ts");
    return runDemo(context, flags.port);
  },
  render: "silent",
});
