/** Narrows what is said of an address to some types of mail. */
export const emailTypeFlags = {
  type: {
    takes: "<email_type_id>",
    summary: "only of this type, 1 to 17 (every type; repeatable)",
    isRepeatable: true,
  },
} as const;
