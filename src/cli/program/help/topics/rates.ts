import type { Topic } from "./topic.ts";

export const rates: Topic = {
  name: "rates",
  summary: "how fast a service is called",
  blocks: [
    "A service gets at most 5 calls a second; the embedded engine is not paced. The commands that make many calls take these flags:",
    {
      rows: [
        ["--rate <n>", "so many calls a second; 0 is no pacing"],
        ["--rate-share <n%>", "only this part of the rate, which leaves the rest to others"],
        ["--concurrency <n>", "how many calls are under way at once"],
        ["--batch-size <n>", "how many items a call carries"],
      ],
    },
    "Processes of one machine share the rate of an account between them. Where a service says that it is asked too much, it is asked later, by what its headers say.",
    {
      lines: [
        "starpost orders import orders.csv --rate 2 --concurrency 1",
        "starpost products import products.csv --rate-share 50%",
      ],
    },
  ],
};
