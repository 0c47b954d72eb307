import type { Migration } from "./table-builders.ts";

/** Lets images of past reviews stay where they are. */
export const imageUrls: Migration = {
  version: 14,
  name: "URLs of images",
  up: async (schema) => {
    await schema.alterTable("review_images").addColumn("url", "text").execute();
  },
};
