import type { Topic } from "./topic.ts";

export const rates: Topic = {
  name: "rates",
  summary: "limiting the rate of requests",
  blocks: [
    "Requests to a remote service are limited to 5 per second by default; requests to a local profile are not limited. Commands that make many requests accept these flags:",
    {
      rows: [
        ["--rate <n>", "requests per second; 0 disables the limit"],
        ["--rate-share <n%>", "percentage of the rate to use, leaving the rest to other processes"],
        ["--concurrency <n>", "maximum number of concurrent requests"],
        ["--batch-size <n>", "number of items per request"],
      ],
    },
    "Processes on one machine share the rate of an account. If the service returns status 429, requests are retried after the delay that its headers specify.",
    {
      lines: [
        "starpost orders import orders.csv --rate 2 --concurrency 1",
        "starpost products import products.csv --rate-share 50%",
      ],
    },
  ],
};
