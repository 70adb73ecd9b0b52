#!/usr/bin/env node
// Starts the program of the package that npm has chosen for this platform.
const { spawnSync } = require("node:child_process");

const name = `@precis-dev/cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/precis${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`precis: error: the package ${name} is not installed.`);
  console.error("Either there is no program for this platform, or npm was told to leave out optional dependencies.");
  process.exit(1);
}
const run = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (run.error) {
  console.error(`precis: error: ${run.error.message}`);
  process.exit(1);
}
if (run.signal) process.kill(process.pid, run.signal);
process.exit(run.status);
