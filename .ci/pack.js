import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";

/**
 * Puts files that are loaded together into one, each as a function of its own that is called when the file would have
 * been loaded: to find and open a file takes longer than most of them take to run.
 * @param groups by the name of the file that is made: the sources whose files, with all that those require, go there.
 *   What is in an earlier one is not put into a later one.
 */
export function packFiles(files, { outputs }, groups) {
  const places = placeFiles(outputs, groups);
  const packs = new Map();
  const others = [];
  for (const { path, code } of files) {
    const name = basename(path);
    const pack = places.get(name);
    const linked = linkPacks(code, places, pack);
    if (pack === undefined) others.push({ path, code: linked });
    else packs.set(pack, [...(packs.get(pack) ?? []), { name, code: linked, folder: dirname(path) }]);
  }
  return [...others, ...[...packs].flatMap(([pack, parts]) => writePack(pack, parts))];
}

/** The pack of each file that is put into one. */
export function placeFiles(outputs, groups) {
  const places = new Map();
  const visit = (path, pack) => {
    const name = basename(path);
    if (places.has(name) || outputs[path] === undefined) return;
    places.set(name, pack);
    const required = outputs[path].imports.filter(({ kind }) => kind === "import-statement");
    for (const { path: next } of required) visit(next, pack);
  };
  for (const [pack, sources] of Object.entries(groups)) {
    for (const source of sources) {
      const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source);
      if (!found) throw new Error(`no file of dist/ begins with ${source}`);
      visit(found[0], pack);
    }
  }
  return places;
}

function linkPacks(code, places, pack) {
  return code.replaceAll(/\brequire\("\.\/([^"]+)"\)/g, (required, name) => {
    const place = places.get(name);
    if (place === undefined) return required;
    return place === pack ? `__part("${name}")` : `require("./${place}")("${name}")`;
  });
}

/**
 * A pack is a script, and what loads it: with what V8 made of it before, where that lies beside it for this very Node
 * (V8 refuses what another has made, and compiles the script). The digest in its name keeps it to its script: V8 itself
 * compares their lengths alone.
 */
function writePack(pack, parts) {
  // Parentheses around a function have it compiled at once, where it would be read twice.
  const written = parts.map(({ name, code }) => `"${name}":(function(module,exports){${code}\n})`);
  const script = `(function(require,__filename){"use strict";const made={},parts={${written.join(",\n")}};
function __part(name){const known=made[name];if(known)return known.exports;const module=made[name]={exports:{}};parts[name](module,module.exports);return module.exports}
return __part})
`;
  const digest = createHash("sha256").update(script).digest("hex").slice(0, 12);
  const name = `${pack.replace(/\.js$/, "")}-${digest}.pack`;
  const loader = `"use strict";
const fs=require("node:fs"),vm=require("node:vm"),filename=__dirname+"/${name}";
let cachedData;
try{cachedData=fs.readFileSync(filename+"."+process.version+"-"+process.platform+"-"+process.arch)}catch{}
module.exports=new vm.Script(fs.readFileSync(filename,"latin1"),{filename,cachedData}).runInThisContext()(require,__filename);
`;
  const { folder } = parts[0];
  return [
    { path: join(folder, name), code: script },
    { path: join(folder, pack), code: loader },
  ];
}
