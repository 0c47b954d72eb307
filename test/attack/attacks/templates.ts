import type { Attack, Target } from "../attack.ts";

/** Previews a template of the attacker's own store. Returns the status. */
async function preview({ send, otherAccount }: Target, parts: object): Promise<number> {
  const path = `/starpost/v1/apps/${otherAccount.appKey}/mail_templates/map/preview`;
  const reply = await send("POST", path, { utoken: otherAccount.utoken, ...parts });
  return reply.status;
}

export const loopTemplates: Attack = {
  name: "Preview nested Liquid loops",
  run: async (target) => {
    const open = "{% for a in (1..100000) %}".repeat(3);
    const nested = "{% for product in products %}".repeat(30);
    const loops = [`${open}x${"{% endfor %}".repeat(3)}`, `${nested}{{ product.name }}${"{% endfor %}".repeat(30)}`];
    const statuses = [];
    for (const text of loops) statuses.push(await preview(target, { text }));
    return { result: `answered ${statuses.join(", ")}`, held: statuses.every((status) => status < 500) };
  },
};

export const longTemplates: Attack = {
  name: "Preview templates of 200 KB",
  run: async (target) => {
    const size = 200_000;
    const fill = (part: string) => part.repeat(size / part.length);
    const templates = [
      { text: fill("{{ store.name }} ") },
      { html: fill("<b>") },
      { html: fill("<p>{{ unknown }}</p>\n") },
      { html: fill('<a href="{{ unsubscribe_url }}">') },
      { subject: fill("x") },
      { text: fill("{% if store %}") },
    ];
    const statuses = [];
    for (const parts of templates) statuses.push(await preview(target, parts));
    return { result: `answered ${statuses.join(", ")}`, held: statuses.every((status) => status < 500) };
  },
};
