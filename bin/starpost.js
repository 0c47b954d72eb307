#!/usr/bin/env node
// Node 22 and later keep compiled code between runs. Fails silently if the cache folder is not writable.
require("node:module").enableCompileCache?.();
require("../dist/main.js");
