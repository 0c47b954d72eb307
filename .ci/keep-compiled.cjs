// Loaded before the program: keeps what V8 has compiled of its packs by its end beside them; see pack.js.
const { writeFileSync } = require("node:fs");
const vm = require("node:vm");

const kept = [];

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    if (options?.filename?.endsWith(".pack")) kept.push([this, options.filename]);
  }
};

process.on("exit", () => {
  for (const [script, file] of kept) {
    writeFileSync(
      `${file}.${process.version}-${process.platform}-${process.arch}`,
      script.createCachedData(),
    );
  }
});
