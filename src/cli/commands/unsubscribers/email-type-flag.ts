/** Narrows what is said of an address to some types of mail. */
export const emailTypeFlags = {
  type: {
    value: "<email_type_id>",
    description: "only of this type, 1 to 17 (default: every type)",
    isRepeatable: true,
  },
} as const;
