#!/usr/bin/env bun
import { run } from './cli/index.ts'

// No top-level await: the binary is built with bytecode, which cannot have one.
run(process.argv.slice(2)).then(exitCode => {
  process.exitCode = exitCode
})
