import type { OutputOf } from "../../../service/transport.ts";
import { text, type View } from "../../../terminal/view.ts";

type Rules = OutputOf<"emailRules.list">;
type Setting = OutputOf<"emailRules.set">["setting"];

const columns = ["name", "value", "default", "changed", "rule", "says"] as const;

/** The settings that belong to no rule, and behind them every rule with its own, in the order in which they are asked. */
export function viewOfRules({ rules, settings }: Rules): View {
  const settingOf = new Map(settings.map((setting) => [setting.name, setting]));
  const ruleOf = new Map(rules.flatMap((rule) => rule.settings.map((name) => [name, rule.name] as const)));
  const loose = settings.filter(({ name }) => !ruleOf.has(name) || ruleOf.get(name) === "requests_off");
  const widest = Math.max(...[...rules, ...settings].map(({ name }) => name.length)) + 4;
  const widestValue = Math.max(...settings.map((setting) => describeValue(setting).length), "always".length);
  const row = (name: string, value: string, says: string) =>
    `${name.padEnd(widest)}  ${value.padEnd(widestValue)}  ${says}`.trimEnd();
  const tell = (setting: Setting, indent: string) =>
    row(`${indent}${setting.name}`, describeValue(setting), setting.says);
  const lines = [
    "Settings",
    ...loose.map((setting) => tell(setting, "  ")),
    "",
    "No mail is sent where (the first that holds decides)",
    ...rules.flatMap((rule) => {
      const own = rule.settings.flatMap((name) => settingOf.get(name) ?? []);
      const ownSwitch = own.find(({ name }) => name === (rule.name as string));
      const numbers = own.filter(({ type }) => type === "number");
      return [
        row(`  ${rule.name}`, ownSwitch ? describeValue(ownSwitch) : "always", rule.says),
        ...numbers.map((setting) => tell(setting, "    ")),
      ];
    }),
    "",
    "To change one: starpost mail set <name> <value>; `default` takes it back.",
  ];
  const rows = settings.map((setting) => ({ ...rowOf(setting), rule: ruleOf.get(setting.name) ?? null }));
  return text(lines, rows, columns);
}

/** The value, and what it would be by itself where the account has set it otherwise. */
function describeValue(setting: Setting): string {
  const value = wordValue(setting.value);
  return setting.changed ? `${value} (default ${wordValue(setting.default)})` : value;
}

function wordValue(value: Setting["value"]): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}

function rowOf({ name, value, default: usual, changed, says }: Setting) {
  return { name, value: wordValue(value), default: wordValue(usual), changed, says };
}

/** One setting, as it is from now on. */
export function viewOfSetting({ setting }: OutputOf<"emailRules.set">): View {
  // What is off is not so: its words say what on means.
  const means = setting.value === false ? "; on, it means: " : ": ";
  const line = `${setting.name} is ${describeValue(setting)}${means}${setting.says}`;
  return text([line], [{ ...rowOf(setting), rule: null }], columns);
}
