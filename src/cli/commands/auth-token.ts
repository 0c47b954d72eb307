import { line } from "../../output/view.ts";
import { command } from "../command.ts";

export const authToken = command({
  name: "auth token",
  summary: "Print a valid utoken",
  run: async (context) => {
    const connection = await context.connect();
    try {
      const { utoken, expiresAtMs } = await connection.token();
      return { utoken, utoken_expires_at: new Date(expiresAtMs).toISOString() };
    } finally {
      await connection.close();
    }
  },
  render: ({ utoken }) => line("utoken", utoken),
});
