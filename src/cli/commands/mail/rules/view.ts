import type { OutputOf } from "../../../../service/transport.ts";
import { formatSections } from "../../../../terminal/sections.ts";
import { text, type View } from "../../../../terminal/view.ts";

type Rules = OutputOf<"emailRules.list">;
type Setting = OutputOf<"emailRules.set">["setting"];

const columns = ["name", "value", "default", "changed", "rule", "description"] as const;

const changeHint =
  "To change a setting, run `starpost mail rules set <name> <value>`. The value `default` restores the default.";

/** Shows the settings that belong to no rule, then every rule with its settings, in order of evaluation. */
export function viewOfRules({ rules, settings }: Rules): View {
  const settingOf = new Map(settings.map((setting) => [setting.name, setting]));
  const ruleOf = new Map(rules.flatMap((rule) => rule.settings.map((name) => [name, rule.name] as const)));
  const general = settings.filter(({ name }) => !ruleOf.has(name) || ruleOf.get(name) === "requests_off");
  const cellsOf = (setting: Setting, indent = "") => [
    `${indent}${setting.name}`,
    describeValue(setting),
    setting.description,
  ];
  const rowsOfRules = rules.flatMap((rule) => {
    const own = rule.settings.flatMap((name) => settingOf.get(name) ?? []);
    const ownSwitch = own.find(({ name }) => name === (rule.name as string));
    const numbers = own.filter(({ type }) => type === "number");
    return [
      [rule.name, ownSwitch ? describeValue(ownSwitch) : "always", rule.description],
      ...numbers.map((setting) => cellsOf(setting, "  ")),
    ];
  });
  const sections = [
    { title: "Settings", rows: general.map((setting) => cellsOf(setting)) },
    { title: "Rules that suppress an email (the first that applies decides)", rows: rowsOfRules },
    { rows: [], notes: [changeHint] },
  ];
  const rows = settings.map((setting) => ({ ...rowOf(setting), rule: ruleOf.get(setting.name) ?? null }));
  return text(formatSections(sections, { isShared: true }), rows, columns);
}

/** Shows a setting after it was changed. */
export function viewOfSetting({ setting }: OutputOf<"emailRules.set">): View {
  // The description of a switch states the effect of `on`.
  const separator = setting.value === false ? "; effect of on: " : ": ";
  const line = `${setting.name} is ${describeValue(setting)}${separator}${setting.description}`;
  return text([line], [{ ...rowOf(setting), rule: null }], columns);
}

function describeValue(setting: Setting): string {
  const value = formatValue(setting.value);
  return setting.changed ? `${value} (default ${formatValue(setting.default)})` : value;
}

function formatValue(value: Setting["value"]): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}

function rowOf({ name, value, default: defaultValue, changed, description }: Setting) {
  return { name, value: formatValue(value), default: formatValue(defaultValue), changed, description };
}
