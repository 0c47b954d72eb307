import { line } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Print a valid access token (utoken)",
  examples: ["starpost auth token", 'curl -s "http://127.0.0.1:8080/apps/KEY/purchases?utoken=$(starpost auth token)"'],
  run: async (context) => {
    const token = await context.withConnection((connection) => connection.token());
    const { describeExpiry } = await import("./account-status.ts");
    return { utoken: token.utoken, utoken_expires_at: describeExpiry(token) };
  },
  render: ({ utoken }) => line("utoken", utoken),
});
