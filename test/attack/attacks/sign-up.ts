import type { Attack } from "../attack.ts";

const accounts = 20;

/** A stranger signs up again and again, and has each account send a test email to a stranger. */
export const signUpAndSendEmail: Attack = {
  name: "Sign up and send email",
  run: async ({ send, mail }) => {
    const before = mail.accepted.length;
    let created = 0;
    for (let nth = 0; nth < accounts; nth += 1) {
      const user = {
        email: `m${nth}@mail.example`,
        display_name: "M",
        password: "correct horse",
        url: "https://m.example",
      };
      const reply = await send("POST", "/users", { user });
      if (reply.status !== 200) continue;
      created += 1;
      const { app_key, token } = (reply.json() as { response: { app_key: string; token: string } }).response;
      const path = `/apps/${app_key}/reminders/send_test_email`;
      await send("POST", path, { utoken: token, email: `victim${nth}@mail.example` });
    }
    await mail.settled(before + created);
    const sent = mail.accepted.length - before;
    return { result: `${created} of ${accounts} accounts, ${sent} emails`, held: created === 0 && sent === 0 };
  },
};
