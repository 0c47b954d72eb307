export const recipientFlag = {
  value: "<key>",
  description: "encrypt for this public key of age (age1…); only its secret key can decrypt",
  isRepeatable: true,
} as const;

export const identityFlag = {
  value: "<file>",
  description: "file with the secret key (age) of an encrypted backup; only its owner may be able to read it",
  values: "files",
} as const;
